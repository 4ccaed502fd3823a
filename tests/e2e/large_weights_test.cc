// Models whose weights are larger than one protobuf, and than the memory that planning may take.
// Their files are sparse: almost all weights are zeros that take no room on the disk.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "opsemantics/values/tensor_file.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

constexpr int64_t kGB = 1'000'000'000;
constexpr int64_t kWidth = 8192;                 // a weight has 8192 x 8192 floats
constexpr int64_t kBytes = kWidth * kWidth * 4;  // 268 MB
constexpr int64_t kRows = 4;                     // of the inputs
constexpr int kMarks = 8;                        // elements of a weight that are not 0

// Mark m of each weight takes element Place(m) of a row to element Place(Next(m)), times 2.
int64_t Place(int mark) { return 1024 * mark + 5; }
int Next(int mark) { return (3 * mark + 1) % kMarks; }

// A chain of products with external weights, x -> y, in `folder`.
void WriteModel(const std::string& folder, int products) {
  compiler::OnnxBuilder builder;
  builder.Input("x", {kRows, kWidth});
  for (int p = 0; p < products; ++p) {
    const std::string name = "w" + std::to_string(p);
    ::onnx::TensorProto* weight = builder.proto().mutable_graph()->add_initializer();
    weight->set_name(name);
    weight->set_data_type(::onnx::TensorProto::FLOAT);
    weight->add_dims(kWidth);
    weight->add_dims(kWidth);
    weight->set_data_location(::onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] :
         {std::pair<std::string, std::string>("location", "weights.data"),
          {"offset", std::to_string(p * kBytes)},
          {"length", std::to_string(kBytes)}}) {
      ::onnx::StringStringEntryProto* entry = weight->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    const std::string from = p == 0 ? "x" : "y" + std::to_string(p - 1);
    const std::string to = p + 1 == products ? "y" : "y" + std::to_string(p);
    builder.Node("MatMul", {from, name}, {to});
  }
  builder.Output("y");
  compiler::WriteBytes(folder + "/m.onnx", builder.proto().SerializeAsString());
  std::ofstream weights(folder + "/weights.data", std::ios::binary);
  const float two = 2;
  for (int p = 0; p < products; ++p) {
    for (int mark = 0; mark < kMarks; ++mark) {
      weights.seekp(p * kBytes + (Place(mark) * kWidth + Place(Next(mark))) * 4);
      weights.write(reinterpret_cast<const char*>(&two), 4);
    }
  }
  weights.close();
  std::filesystem::resize_file(folder + "/weights.data", products * kBytes);
}

// x[r, Place(m)] = r + m + 1, all else 0.5; the products leave the marks alone.
void WriteInput(const std::string& folder) {
  std::vector<float> x(kRows * kWidth, 0.5f);
  for (int64_t r = 0; r < kRows; ++r) {
    for (int m = 0; m < kMarks; ++m) x[r * kWidth + Place(m)] = static_cast<float>(r + m + 1);
  }
  TensorData tensor{ElementType::kF32, {kRows, kWidth}, ""};
  tensor.data.assign(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(float));
  compiler::WriteBytes(folder + "/x.npy", FormatNpy(tensor));
}

// What the products make of the input, as bytes.
std::string Expected(int products) {
  std::vector<float> y(kRows * kWidth, 0.0f);
  for (int m = 0; m < kMarks; ++m) {
    int mark = m;
    for (int p = 0; p < products; ++p) mark = Next(mark);
    for (int64_t r = 0; r < kRows; ++r) {
      y[r * kWidth + Place(mark)] = std::ldexp(static_cast<float>(r + m + 1), products);
    }
  }
  return std::string(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(float));
}

// The bytes that a file takes on the disk.
int64_t OnDisk(const std::string& path) {
  struct stat facts;
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  return facts.st_blocks * 512;
}

TEST_CASE("a model of 13 GB is planned for 64 devices, and its program written, in 1 GB") {
  const std::string folder = ScratchFolder("13gb");
  WriteModel(folder, 49);
  REQUIRE(std::filesystem::file_size(folder + "/weights.data") > 13 * kGB);
  const std::string in = "cd " + folder + " && ";
  for (const char* line :
       {"yuba info m.onnx", "yuba partition m.onnx --devices 64 -o p.json", "yuba show p.json",
        "yuba check m.onnx p.json", "yuba compile m.onnx p.json --values reference -o m.yuba"}) {
    const CommandResult result = Succeed(in + line);
    INFO(line << "\n" << result.out << result.error);
    CHECK(result.peak_bytes < kGB);
  }
  CHECK(std::filesystem::file_size(folder + "/m.yuba") < 10'000'000);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a model of 3 GB runs on two devices, its values read once and held once") {
  const std::string folder = ScratchFolder("3gb");
  constexpr int kProducts = 12;
  WriteModel(folder, kProducts);
  WriteInput(folder);
  const std::string in = "cd " + folder + " && ";
  Succeed(in + "yuba partition m.onnx --devices 2 -o p.json");
  const auto runs = [&](const std::string& command) {
    const CommandResult result =
        Succeed(in + "rm -rf out && " + command + " --input x=x.npy --outputs out");
    INFO(command << "\n" << result.out);
    CHECK(result.peak_bytes < kProducts * kBytes + kGB);
    const auto y = ReadTensorFile(folder + "/out/output_0.npy");
    REQUIRE_THAT(y, IsOk());
    CHECK(y->data == Expected(kProducts));
  };
  runs("yuba run m.onnx p.json");
  const CommandResult compiled = Succeed(in + "yuba compile m.onnx p.json -o m.yuba");
  CHECK(compiled.peak_bytes < kGB);
  CHECK(static_cast<int64_t>(std::filesystem::file_size(folder + "/m.yuba")) > kProducts * kBytes);
  CHECK(OnDisk(folder + "/m.yuba") < kGB);
  std::filesystem::rename(folder + "/weights.data", folder + "/elsewhere");
  runs("yuba-run m.yuba");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace yuba
