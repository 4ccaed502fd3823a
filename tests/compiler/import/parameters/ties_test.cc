// Weights that a file holds twice: found, made one for training, and written back as two.
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "compiler/import/file/read.h"
#include "compiler/import/file/replace_values.h"
#include "compiler/import/file/twins.h"
#include "opsemantics/values/tensor_file.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::OnnxBuilder;

// A matrix of f32 whose element in row i and column j is `value(i, j)`.
template <typename Value>
void AddMatrix(OnnxBuilder& builder, const std::string& name, int64_t rows, int64_t columns,
               const Value& value) {
  builder.Weight(name, {rows, columns});
  ::onnx::GraphProto& graph = *builder.proto().mutable_graph();
  ::onnx::TensorProto& tensor = *graph.mutable_initializer(graph.initializer_size() - 1);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      tensor.set_float_data(static_cast<int>(i * columns + j), value(i, j));
    }
  }
}

float Embedded(int64_t i, int64_t j) { return static_cast<float>(10 * i + j) / 8; }
float Turned(int64_t i, int64_t j) { return Embedded(j, i); }

// y = relu(x a) b, where b [3, n] is the transpose of a [n, 3].
OnnxBuilder Tied(int64_t n = 12) {
  OnnxBuilder builder;
  builder.Input("x", {6, n});
  AddMatrix(builder, "a", n, 3, Embedded);
  AddMatrix(builder, "b", 3, n, Turned);
  builder.Node("MatMul", {"x", "a"}, {"h"});
  builder.Node("Relu", {"h"}, {"r"});
  builder.Node("MatMul", {"r", "b"}, {"y"});
  builder.Output("y");
  return builder;
}

// The same, with a node in the place of b.
OnnxBuilder Explicit() {
  OnnxBuilder builder = Tied();
  ::onnx::GraphProto& graph = *builder.proto().mutable_graph();
  graph.mutable_initializer()->RemoveLast();
  graph.clear_node();
  builder.Node("Transpose", {"a"}, {"b"});
  builder.Node("MatMul", {"x", "a"}, {"h"});
  builder.Node("Relu", {"h"}, {"r"});
  builder.Node("MatMul", {"r", "b"}, {"y"});
  return builder;
}

absl::StatusOr<compiler::Model> Trained(const OnnxBuilder& builder, std::vector<TieOptions> ties) {
  ImportOptions options;
  options.train = TrainOptions{};
  options.train->optimizer = "sgd";
  options.train->loss = "softmax-cross-entropy";
  options.train->ties = std::move(ties);
  return compiler::ImportFile(builder.Save(), options);
}

std::multiset<std::string> DefinitionsOf(const Graph& graph) {
  std::multiset<std::string> definitions;
  for (const Node& node : graph.nodes) definitions.insert(ToString(*node.definition));
  return definitions;
}

int NotesOfEqual(const compiler::Model& model) {
  int count = 0;
  for (const std::string& note : model.notes) count += note.find(" equals ") != std::string::npos;
  return count;
}

TEST_CASE("a matrix and its transpose are found, whatever the size") {
  for (const int64_t n : {2, 3, 12, 100}) {
    const auto model = Trained(Tied(n), {});
    REQUIRE_THAT(model, IsOk());
    CHECK(NotesOfEqual(*model) == 1);
  }
}

TEST_CASE("what only looks alike is not found") {
  OnnxBuilder builder = Tied();
  ::onnx::GraphProto& graph = *builder.proto().mutable_graph();
  graph.mutable_initializer(1)->set_float_data(35, 7);  // the last element, behind the corner
  CHECK(NotesOfEqual(*Trained(builder, {})) == 0);
  OnnxBuilder fills = Tied();
  for (int t : {0, 1}) {
    ::onnx::TensorProto& tensor = *fills.proto().mutable_graph()->mutable_initializer(t);
    for (float& element : *tensor.mutable_float_data()) element = 1;
  }
  CHECK(NotesOfEqual(*Trained(fills, {})) == 0);
}

TEST_CASE("tied parameters are one, as if the file had one and a transpose") {
  const auto tied = Trained(Tied(), {{"b", "a"}}), written = Trained(Explicit(), {});
  REQUIRE_THAT(tied, IsOk());
  REQUIRE_THAT(written, IsOk());
  CHECK(DefinitionsOf(tied->graph) == DefinitionsOf(written->graph));
  CHECK(NotesOfEqual(*tied) == 0);
  for (const Tensor& tensor : tied->graph.tensors) CHECK(tensor.name != "b");
  const auto apart = Trained(Tied(), {});
  CHECK(DefinitionsOf(apart->graph) != DefinitionsOf(tied->graph));
}

TEST_CASE("square matrices are tied as their values say") {
  for (const bool turned : {false, true}) {
    OnnxBuilder builder;
    builder.Input("x", {6, 3});
    AddMatrix(builder, "a", 3, 3, Embedded);
    AddMatrix(builder, "b", 3, 3, turned ? Turned : Embedded);
    builder.Node("MatMul", {"x", "a"}, {"h"});
    builder.Node("MatMul", {"h", "b"}, {"y"});
    builder.Output("y");
    OnnxBuilder other = builder;
    other.proto().mutable_graph()->clear_node();
    other.Node("MatMul", {"x", "a"}, {"h"});
    if (turned) other.Node("Transpose", {"a"}, {"t"});
    other.Node("MatMul", {"h", turned ? "t" : "a"}, {"y"});
    const auto tied = Trained(builder, {{"b", "a"}}), written = Trained(other, {});
    REQUIRE_THAT(tied, IsOk());
    REQUIRE_THAT(written, IsOk());
    CHECK(DefinitionsOf(tied->graph) == DefinitionsOf(written->graph));
  }
}

TEST_CASE("what cannot be tied is refused") {
  CHECK_THAT(Trained(Tied(), {{"b", "c"}}), Fails("--tie b=c: c is no parameter of floats"));
  CHECK_THAT(Trained(Tied(), {{"x", "a"}}), Fails("x is no parameter of floats"));
  OnnxBuilder wider = Tied();
  wider.Weight("w", {12, 12});
  wider.Node("MatMul", {"y", "w"}, {"z"});
  wider.proto().mutable_graph()->clear_output();
  wider.Output("z");
  CHECK_THAT(Trained(wider, {{"w", "a"}}),
             Fails("w is f32[12, 12] and a is f32[12, 3]: they cannot be one tensor"));
  for (const bool first : {true, false}) {  // whichever tie comes first
    std::vector<TieOptions> chain = {{"b", "a"}, {"a", "b"}};
    if (!first) std::swap(chain[0], chain[1]);
    CHECK_THAT(Trained(Tied(), chain), Fails("is given too: leave out one of them"));
  }
  CHECK_THAT(Trained(Tied(), {{"a", "a"}}),
             Fails("--tie a=a: a weight is always tied to itself: name two"));
  OnnxBuilder differ = Tied();
  differ.proto().mutable_graph()->mutable_initializer(1)->set_float_data(35, 7);
  CHECK_THAT(Trained(differ, {{"b", "a"}}), Fails("their values differ"));
}

TEST_CASE("a weight that is two is frozen by either name") {
  const OnnxBuilder builder = Tied();
  for (const char* name : {"a", "b"}) {
    ImportOptions options;
    options.train = TrainOptions{};
    options.train->optimizer = "sgd";
    options.train->loss = "softmax-cross-entropy";
    options.train->ties = {{"b", "a"}};
    options.train->freeze = {name};
    CHECK_THAT(compiler::ImportFile(builder.Save(), options), Fails("a (--freeze)"));
  }
}

TEST_CASE("trained values go back into both") {
  const std::string model = Tied().Save();
  TensorData a{ElementType::kF32, {12, 3}, ""};
  for (int64_t i = 0; i < 36; ++i) {
    const auto value = static_cast<float>(i * i);
    a.data.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  const std::string values = compiler::TemporaryFile("a.npy");
  compiler::WriteBytes(values, FormatNpy(a));
  const auto stored = ReadNpyHeader(values);
  REQUIRE_THAT(stored, IsOk());
  const auto replaced =
      ReplaceValues(model, model + ".new", {{"a", {*stored, false}}}, {{"b", "a"}});
  REQUIRE_THAT(replaced, IsOk());
  CHECK(replaced->replaced == 2);
  ::onnx::ModelProto proto;
  REQUIRE(proto.ParseFromString(replaced->model));
  const auto b = ReadTensor(proto.graph().initializer(1), "");
  REQUIRE_THAT(b, IsOk());
  CHECK(b->data == Transposed(a).data);
  CHECK(b->dims == std::vector<int64_t>{3, 12});
  CHECK_THAT(ReplaceValues(model, model + ".new", {{"a", {*stored, false}}}, {{"c", "a"}}),
             Fails("--tie c=a: the file has no initializer c"));
  CHECK_THAT(ReplaceValues(model, model + ".new", {{"x", {*stored, false}}}, {{"b", "a"}}),
             Fails("--tie b=a: there is no new value of a"));
}

}  // namespace
}  // namespace yuba::onnx
