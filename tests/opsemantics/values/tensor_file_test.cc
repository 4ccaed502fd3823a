#include "opsemantics/values/tensor_file.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "tests/support/mutate.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

TensorData Sample() {
  TensorData tensor{ElementType::kF32, {2, 3}, ""};
  for (float value : {0.0f, 1.5f, -2.0f, 3.25f, 1e30f, -0.0f}) {
    tensor.data.append(reinterpret_cast<const char*>(&value), 4);
  }
  return tensor;
}

void Same(const TensorData& a, const TensorData& b) {
  CHECK(a.type == b.type);
  CHECK(a.dims == b.dims);
  CHECK(a.data == b.data);
}

TEST_CASE("tensors survive .npy and .pb") {
  Same(ParseNpy(FormatNpy(Sample())).value(), Sample());
  Same(ParseTensorProto(FormatTensorProto("x", Sample())).value(), Sample());
  const TensorData scalar{ElementType::kI64, {}, std::string("\x07\0\0\0\0\0\0\0", 8)};
  Same(ParseNpy(FormatNpy(scalar)).value(), scalar);
  Same(ParseTensorProto(FormatTensorProto("", scalar)).value(), scalar);
}

TEST_CASE("bf16 is written to .npy as f32 of the same value") {
  const TensorData half{ElementType::kBF16, {1}, std::string("\xc0\x3f", 2)};  // 1.5
  const TensorData wide = ParseNpy(FormatNpy(half)).value();
  float value = 0;
  memcpy(&value, wide.data.data(), 4);
  CHECK(value == 1.5f);
}

TEST_CASE("an array of .npy is found without reading it") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/x.npy";
  const std::string bytes = FormatNpy(Sample());
  const auto read = [&](const std::string& contents) {
    std::ofstream(path, std::ios::binary) << contents;
    return ReadNpyHeader(path);
  };
  const auto stored = read(bytes);
  REQUIRE_THAT(stored, IsOk());
  CHECK(stored->type == ElementType::kF32);
  CHECK(stored->dims == std::vector<int64_t>{2, 3});
  CHECK(ReadRange(stored->bytes).value() == Sample().data);
  CHECK_THAT(read(bytes.substr(0, bytes.size() - 1)), Fails("x.npy: the .npy file has 23 bytes"));
  CHECK_THAT(read(bytes + "1"), Fails("x.npy: the .npy file has 25 bytes"));
  CHECK_THAT(read(bytes.substr(0, 60)), Fails("x.npy: the .npy file ends in its header"));
  CHECK_THAT(read(bytes.substr(0, 11)), Fails("x.npy: the .npy file ends in its header"));
  CHECK_THAT(read("PK"), Fails("x.npy: this is no .npy file"));
  CHECK_THAT(read(""), Fails("x.npy: this is no .npy file"));
  std::string large = bytes;  // a header of 4 GB
  large[6] = 2;
  large.replace(8, 4, 4, '\xff');
  CHECK_THAT(read(large), Fails("x.npy: the .npy file ends in its header"));
}

std::string Safetensors(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size() & 0xff);
  bytes[1] = static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

// The tensors of a file of these bytes.
absl::StatusOr<SafetensorsFile> Listed(const std::string& bytes) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/w.safetensors";
  std::ofstream(path, std::ios::binary) << bytes;
  return ReadSafetensors(path);
}

TEST_CASE("safetensors are written as they are read") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/written.safetensors";
  const TensorData count{ElementType::kI64, {}, std::string("\x07\0\0\0\0\0\0\0", 8)};
  REQUIRE_THAT(WriteSafetensors(path, {{"a \"b\"", ElementType::kF32, {2, 3}, Sample},
                                       {"count", ElementType::kI64, {}, [&] { return count; }}}),
               IsOk());
  const auto read = ReadSafetensors(path);
  REQUIRE_THAT(read, IsOk());
  REQUIRE(read->tensors.size() == 2);
  const StoredTensor& first = read->tensors.at("a \"b\"");
  CHECK(first.dims == std::vector<int64_t>{2, 3});
  CHECK(first.bytes.offset % 8 == 0);
  CHECK(ReadRange(first.bytes).value() == Sample().data);
  CHECK(read->tensors.at("count").type == ElementType::kI64);
  CHECK(ReadRange(read->tensors.at("count").bytes).value() == count.data);
  const absl::Status failed =
      WriteSafetensors(path, {{"w", ElementType::kF32, {}, []() -> absl::StatusOr<TensorData> {
                                 return absl::InternalError("gone");
                               }}});
  CHECK_FALSE(failed.ok());
  CHECK(ReadSafetensors(path)->tensors.size() == 2);  // the file is as it was
}

const char kHeader[] =
    R"({"__metadata__":{"a":"b"},"v":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
    R"("w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})";

TEST_CASE("safetensors are found by name, and stay in their file") {
  const std::string bytes = Safetensors(kHeader, "datastays!!!");
  const auto tensors = Listed(bytes).value().tensors;
  REQUIRE(tensors.size() == 2);
  CHECK(tensors.at("w").dims == std::vector<int64_t>{2});
  CHECK(ReadRange(tensors.at("w").bytes).value() == "stays!!!");
  CHECK_THAT(Listed(bytes.substr(0, bytes.size() - 1)),
             StatusIs(absl::StatusCode::kInvalidArgument, "w: data_offsets [4, 12) do not fit"));
}

TEST_CASE("files of safetensors say more than their tensors") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/said.safetensors";
  const SafetensorsMetadata said = {{"step", "12"}, {"a \"b\"", ""}};
  REQUIRE_THAT(WriteSafetensors(path, {{"w", ElementType::kF32, {2, 3}, Sample}}, said), IsOk());
  CHECK(ReadSafetensors(path)->metadata == said);
  CHECK(ReadRange(ReadSafetensors(path)->tensors.at("w").bytes).value() == Sample().data);
  std::ofstream(path, std::ios::binary) << Safetensors(R"({"__metadata__":{"a":[1],"b":"c"}})", "");
  CHECK(ReadSafetensors(path)->metadata == SafetensorsMetadata{{"b", "c"}});
  std::ofstream(path, std::ios::binary) << Safetensors(R"({"__metadata__":[1]})", "");
  CHECK(ReadSafetensors(path)->metadata.empty());
}

TEST_CASE("safetensors of types that are not read are named, and the others are read") {
  const auto read =
      Listed(Safetensors(R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]},)"
                         R"("b":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})",
                         "12345678"));
  REQUIRE_THAT(read, IsOk());
  CHECK(read->unread == std::map<std::string, std::string>{{"a", "F8_E4M3"}});
  REQUIRE(read->tensors.size() == 1);
  CHECK(ReadRange(read->tensors.at("b").bytes).value() == "5678");
}

TEST_CASE("stored floats are read transposed, and as wider floats") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/halves.safetensors";
  // 1, 2, 3 and -4, 0.5, infinity as bf16.
  const TensorData halves{
      ElementType::kBF16, {2, 3}, std::string("\x80\x3f\0\x40\x40\x40\x80\xc0\0\x3f\x80\x7f", 12)};
  REQUIRE_THAT(WriteSafetensors(path, {{"w", halves.type, halves.dims, [&] { return halves; }}}),
               IsOk());
  const StoredTensor stored = ReadSafetensors(path)->tensors.at("w");
  const auto wide = ReadView({stored, true}, ElementType::kF32);
  REQUIRE_THAT(wide, IsOk());
  CHECK(wide->dims == std::vector<int64_t>{3, 2});
  const std::vector<double> expected = {1, -4, 2, 0.5, 3, HUGE_VAL};
  for (int i = 0; i < 6; ++i) CHECK(ValueAt(*wide, i) == expected[i]);
  CHECK(ValueAt(ReadView({stored, false}, ElementType::kF64).value(), 3) == -4);
  CHECK_THAT(ReadView({stored, false}, ElementType::kF16),
             Fails("elements of bf16, and f16 is wanted"));
}

TEST_CASE("headers of safetensors that cannot be are refused by the file's name") {
  CHECK_THAT(Listed("short"), Fails("w.safetensors: this is no safetensors file"));
  const std::string bytes = Safetensors(kHeader, "datastays!!!");
  CHECK_THAT(Listed(bytes.substr(0, 40)),
             Fails("w.safetensors: this is no safetensors file, or it is cut off"));
  CHECK_THAT(Listed(std::string(8, '\xff') + "{}"),
             Fails("this is no safetensors file, or it is cut off"));
  CHECK_THAT(Listed(Safetensors("[1]", "")), Fails("w.safetensors: the safetensors header is no"));
  const auto refuses = [](const std::string& entry, const std::string& why) {
    CHECK_THAT(Listed(Safetensors("{\"w\":" + entry + "}", "12345678")), Fails(why));
  };
  refuses(R"({"dtype":"F32","shape":[2]})", "w: dtype, shape or data_offsets is missing");
  refuses(R"({"dtype":"F9","shape":[2],"data_offsets":[0,9]})", "[0, 9) do not fit");
  refuses(R"({"dtype":"F32","shape":[2],"data_offsets":[-1,7]})", "are not whole numbers");
  refuses(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", "[8, 0) do not fit");
  refuses(R"({"dtype":"F32","shape":[4],"data_offsets":[0,8]})", "[0, 8) do not fit");
  refuses(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})", "dimension -2 is negative");
  refuses(R"({"dtype":"F32","shape":[0.5],"data_offsets":[0,8]})", "not made of whole numbers");
}

TEST_CASE("safetensors lie one behind the other and fill their file") {
  const auto read = [](int64_t begin, int64_t end, const std::string& type) {
    const std::string offsets = std::to_string(begin) + "," + std::to_string(end);
    return Listed(Safetensors(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                              R"("a":{"dtype":")" +
                                  type + R"(","shape":[1],"data_offsets":[)" + offsets +
                                  R"(]},"e":{"dtype":"F32","shape":[0],)" +
                                  R"("data_offsets":[4,4]}})",
                              "12345678"));
  };
  CHECK_THAT(read(4, 8, "F32"), IsOk());
  CHECK_THAT(read(0, 4, "F32"),
             Fails("w.safetensors: b: data_offsets [0, 4) overlap with another"));
  CHECK_THAT(read(2, 6, "F32"), Fails("a: data_offsets [2, 6) overlap with another tensor: the "
                                      "tensors before it end at 4; the file is damaged"));
  CHECK_THAT(read(6, 8, "F16"), Fails("a: data_offsets [6, 8) leave a gap"));
  CHECK_THAT(read(4, 6, "F16"), Fails("w.safetensors: the tensors end at byte 6 of the data, which "
                                      "have 8"));
  CHECK_THAT(read(2, 6, "F9"), Fails("a: data_offsets [2, 6) overlap"));
}

TEST_CASE("damaged safetensors are refused, or their tensors lie within the file") {
  const std::string sound = Safetensors(kHeader, "datastays!!!");
  int listed = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const auto tensors = Listed(MutateBytes(sound, random));
    if (!tensors.ok()) continue;
    for (const auto& [name, tensor] : tensors->tensors) {
      ++listed;
      CHECK(IsWithinFile(tensor.bytes));
      CHECK(tensor.bytes.length == ElementsOf(tensor.dims).value() * ByteSize(tensor.type));
    }
  }
  CHECK(listed > 0);
}

TEST_CASE("damaged tensor files are refused or read, never a crash") {
  const std::string npy = FormatNpy(Sample()), proto = FormatTensorProto("x", Sample());
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    for (const auto& tensor :
         {ParseNpy(MutateBytes(npy, random)), ParseTensorProto(MutateBytes(proto, random))}) {
      if (!tensor.ok()) continue;
      CHECK(ElementsOf(tensor->dims).value() * ByteSize(tensor->type) ==
            static_cast<int64_t>(tensor->data.size()));
    }
  }
}

}  // namespace
}  // namespace yuba
