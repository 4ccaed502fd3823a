// Weights stay where they are, in the model's file or beside it: import names their bytes and reads
// only values that decide something.
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "compiler/import/file/read.h"
#include "opsemantics/base/file_range.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/mutate.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::InitialValue;

std::string Noise(size_t size) {
  std::mt19937 random(static_cast<uint32_t>(size));
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

::onnx::TensorProto& AddTensor(compiler::OnnxBuilder& builder, const std::string& name,
                               const std::vector<int64_t>& dims, int type) {
  ::onnx::TensorProto* tensor = builder.proto().mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const int64_t dim : dims) tensor->add_dims(dim);
  return *tensor;
}

void SetExternal(::onnx::TensorProto& tensor, const std::string& file, int64_t offset) {
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair<std::string, std::string>("location", file),
                                   {"offset", std::to_string(offset)}}) {
    ::onnx::StringStringEntryProto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
}

// y = x w + b: w has 64 KiB of raw data, b 512 bytes.
compiler::OnnxBuilder Product() {
  compiler::OnnxBuilder builder;
  builder.Input("x", {4, 128});
  AddTensor(builder, "w", {128, 128}, ::onnx::TensorProto::FLOAT).set_raw_data(Noise(65536));
  AddTensor(builder, "b", {128}, ::onnx::TensorProto::FLOAT).set_raw_data(Noise(512));
  builder.Node("MatMul", {"x", "w"}, {"p"});
  builder.Node("Add", {"p", "b"}, {"y"});
  builder.Output("y");
  return builder;
}

const InitialValue& ValueOf(const compiler::Model& model, const std::string& name) {
  for (const auto& [id, value] : model.values) {
    if (model.graph.tensors[id].name == name) return value;
  }
  FAIL("no value of " << name);
  return model.values.begin()->second;
}

TEST_CASE("large raw data stays in the model's file, small data is read") {
  const std::string path = Product().Save();
  const auto model = compiler::ImportFile(path);
  REQUIRE_THAT(model, IsOk());
  const InitialValue& w = ValueOf(*model, "w");
  REQUIRE(w.kind == InitialValue::kFile);
  CHECK(std::filesystem::equivalent(w.range.file, path));
  CHECK(ReadRange(w.range).value() == Noise(65536));
  const InitialValue& b = ValueOf(*model, "b");
  REQUIRE(b.kind == InitialValue::kData);
  CHECK(*b.data == Noise(512));
}

TEST_CASE("a message without its weights says where they are, and all else as before") {
  compiler::OnnxBuilder builder = Product();
  AddTensor(builder, "typed", {2}, ::onnx::TensorProto::FLOAT).add_float_data(3);
  builder.proto().set_producer_name("somebody");
  builder.proto().mutable_graph()->mutable_node(0)->set_doc_string(Noise(5000));
  ::onnx::ModelProto read = ReadModelFile(builder.Save()).value();
  ::onnx::TensorProto* w = read.mutable_graph()->mutable_initializer(0);
  CHECK(w->external_data_size() == 3);
  CHECK_FALSE(w->has_raw_data());
  w->clear_external_data();
  w->clear_data_location();
  w->set_raw_data(Noise(65536));
  CHECK(read.SerializeAsString() == builder.proto().SerializeAsString());
}

TEST_CASE("external data is in the model's folder or below it, by whatever path") {
  namespace fs = std::filesystem;
  using Catch::Matchers::Contains;
  const fs::path root = compiler::TemporaryFile("external");
  fs::remove_all(root);
  for (const char* folder : {"home/sub", "outside/deep"}) fs::create_directories(root / folder);
  for (const char* file : {"home/w.bin", "home/sub/w.bin", "outside/w.bin", "outside/deep/w.bin"})
    compiler::WriteBytes(root / file, Noise(65536));
  fs::create_symlink("sub/w.bin", root / "home/inner.bin");
  fs::create_symlink("../outside/w.bin", root / "home/outer.bin");
  fs::create_directory_symlink("../outside/deep", root / "home/away");
  const auto message = [&](const std::string& location) {
    compiler::OnnxBuilder builder = Product();
    SetExternal(*builder.proto().mutable_graph()->mutable_initializer(0), location, 0);
    const std::string path = root / "home/model.onnx";
    compiler::WriteBytes(path, builder.proto().SerializeAsString());
    const auto model = compiler::ImportFile(path);
    return model.ok() ? "imported" : std::string(model.status().message());
  };
  for (const char* inside : {"w.bin", "sub/w.bin", "sub/../w.bin", "./w.bin", "inner.bin"})
    CHECK(message(inside) == "imported");
  for (const char* above : {"../outside/w.bin", "sub/../../outside/w.bin"})
    CHECK_THAT(message(above), Contains("leaves the model's folder"));
  for (const char* link : {"outer.bin", "away/w.bin", "away/../w.bin"}) {
    CHECK_THAT(message(link), Contains("tensor 'w'") && Contains("cp -RL") &&
                                  Contains("and a link leads from there to"));
  }
}

TEST_CASE("a folder of links reads values that lie beside the model that its links lead to") {
  namespace fs = std::filesystem;
  const fs::path root = compiler::TemporaryFile("cache");
  fs::remove_all(root);
  for (const char* folder : {"blobs", "snapshot"}) fs::create_directories(root / folder);
  compiler::OnnxBuilder builder = Product();
  SetExternal(*builder.proto().mutable_graph()->mutable_initializer(0), "w.bin", 0);
  compiler::WriteBytes(root / "blobs/17", builder.proto().SerializeAsString());
  compiler::WriteBytes(root / "blobs/18", Noise(65536));
  fs::create_symlink("../blobs/17", root / "snapshot/model.onnx");
  fs::create_symlink("../blobs/18", root / "snapshot/w.bin");
  CHECK_THAT(compiler::ImportFile(root / "snapshot/model.onnx"), IsOk());
}

// As in caches of downloads: all files are links to files of other names in one folder.
TEST_CASE("a model that is a link has its data beside the file that the link leads to") {
  namespace fs = std::filesystem;
  const fs::path root = compiler::TemporaryFile("cache");
  fs::remove_all(root);
  for (const char* folder : {"snapshot", "blobs", "outside"}) fs::create_directories(root / folder);
  compiler::OnnxBuilder builder = Product();
  SetExternal(*builder.proto().mutable_graph()->mutable_initializer(0), "w.bin", 0);
  compiler::WriteBytes(root / "blobs/abc", builder.proto().SerializeAsString());
  for (const char* file : {"blobs/def", "outside/def"})
    compiler::WriteBytes(root / file, Noise(65536));
  fs::create_symlink("../blobs/abc", root / "snapshot/model.onnx");
  fs::create_symlink("../blobs/def", root / "snapshot/w.bin");
  CHECK_THAT(compiler::ImportFile(root / "snapshot/model.onnx"), IsOk());
  fs::remove(root / "snapshot/w.bin");
  fs::create_symlink("../outside/def", root / "snapshot/w.bin");
  CHECK_THAT(compiler::ImportFile(root / "snapshot/model.onnx"),
             StatusIs(absl::StatusCode::kInvalidArgument, "and a link leads from there to"));
}

TEST_CASE("a model that is a link keeps its own values") {
  namespace fs = std::filesystem;
  const std::string path = Product().Save(), folder = compiler::TemporaryFile("links");
  fs::create_directories(folder);
  const std::string link = folder + "/model.onnx";
  fs::remove(link);
  fs::create_symlink(fs::absolute(path), link);
  const auto model = compiler::ImportFile(link);
  REQUIRE_THAT(model, IsOk());
  CHECK(ReadRange(ValueOf(*model, "w").range).value() == Noise(65536));
}

// A field of a message, as its bytes.
std::string Field(int number, const std::string& message) {
  std::string bytes(1, static_cast<char>(number << 3 | 2));
  for (size_t left = message.size();; left >>= 7) {
    bytes.push_back(static_cast<char>((left & 127) | (left > 127 ? 128 : 0)));
    if (left <= 127) return bytes + message;
  }
}

TEST_CASE("a value that is given twice is read as protobuf and ONNX say") {
  compiler::OnnxBuilder builder = Product();
  compiler::WriteBytes(compiler::TemporaryFile("w.data"), Noise(65538));
  SetExternal(*builder.proto().mutable_graph()->mutable_initializer(0), "w.data", 2);
  const auto both = compiler::ImportFile(builder.Save());
  REQUIRE_THAT(both, IsOk());
  CHECK(ReadRange(ValueOf(*both, "w").range).value() == Noise(65538).substr(2));

  // A second raw_data of the same tensor takes the place of the first.
  ::onnx::ModelProto model = Product().proto();
  ::onnx::GraphProto graph = model.graph();
  ::onnx::TensorProto second;
  second.set_raw_data(std::string(65536, 'z'));
  const std::string tensor = graph.initializer(0).SerializeAsString() + second.SerializeAsString();
  graph.mutable_initializer()->DeleteSubrange(0, 1);
  model.clear_graph();
  constexpr int kGraph = 7, kInitializer = 5;  // numbers of these fields
  const std::string file = model.SerializeAsString() +
                           Field(kGraph, graph.SerializeAsString() + Field(kInitializer, tensor));
  const std::string path = compiler::TemporaryFile("twice.onnx");
  compiler::WriteBytes(path, file);
  const auto read = compiler::ImportFile(path);
  REQUIRE_THAT(read, IsOk());
  REQUIRE(ValueOf(*read, "w").kind == InitialValue::kData);
  CHECK(*ValueOf(*read, "w").data == std::string(65536, 'z'));
}

// A constant of integers is replaced where all its elements are equal, wherever they are stored.
TEST_CASE("the graph does not depend on where constants are stored") {
  for (const int64_t last : {7, 8}) {
    std::vector<std::string> hashes;
    for (const bool beside : {false, true}) {
      compiler::OnnxBuilder builder;
      builder.Input("x", {6000}, ::onnx::TensorProto::INT64);
      std::string bytes;
      for (int i = 0; i < 6000; ++i) {
        const int64_t element = i == 5999 ? last : 7;
        bytes.append(reinterpret_cast<const char*>(&element), 8);
      }
      ::onnx::TensorProto& tensor = AddTensor(builder, "c", {6000}, ::onnx::TensorProto::INT64);
      if (beside) {
        compiler::WriteBytes(compiler::TemporaryFile("c.data"), bytes);
        SetExternal(tensor, "c.data", 0);
      } else {
        for (int i = 0; i < 6000; ++i) tensor.add_int64_data(i == 5999 ? last : 7);
      }
      builder.Node("Add", {"x", "c"}, {"y"});
      builder.Output("y");
      const auto model = compiler::ImportFile(builder.Save());
      REQUIRE_THAT(model, IsOk());
      CHECK(model->values.empty() == (last == 7));
      hashes.push_back(model->graph_hash);
    }
    CHECK(hashes[0] == hashes[1]);
  }
}

TEST_CASE("mutants of external data and cut models are refused or lie within their files") {
  compiler::OnnxBuilder builder = Product();
  builder.proto().mutable_graph()->mutable_initializer(0)->clear_raw_data();
  SetExternal(*builder.proto().mutable_graph()->mutable_initializer(0), "w.data", 2);
  compiler::WriteBytes(compiler::TemporaryFile("w.data"), Noise(65538));
  int accepted = 0, refused = 0;
  for (const std::string& sound :
       {builder.proto().SerializeAsString(), Product().proto().SerializeAsString()}) {
    const std::string path = compiler::TemporaryFile("mutant.onnx");
    for (uint64_t seed = 0; seed < 400; ++seed) {
      INFO("seed " << seed);
      Random random(seed);
      const size_t end = Below(random, 4) == 0 ? Below(random, sound.size()) : sound.size();
      compiler::WriteBytes(path, MutateBytes(sound.substr(0, end), random));
      const auto model = compiler::ImportFile(path);
      ++(model.ok() ? accepted : refused);
      if (!model.ok()) {
        CHECK(model.status().code() == absl::StatusCode::kInvalidArgument);
        continue;
      }
      for (const auto& [id, value] : model->values) {
        if (value.kind == InitialValue::kFile) CHECK_THAT(ReadRange(value.range), IsOk());
      }
    }
  }
  CHECK(accepted > 0);
  CHECK(refused > 0);
}

}  // namespace
}  // namespace yuba::onnx
