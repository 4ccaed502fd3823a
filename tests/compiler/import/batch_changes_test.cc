// What nodes make of the number of examples: a file's own number is read anew, or refused by name,
// and parts of a batch compute what the whole does.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::OnnxBuilder;
using Dims = std::vector<int64_t>;

ImportOptions InParts(int64_t parts) {
  ImportOptions options;
  options.train.emplace();
  options.train->optimizer = "sgd";
  options.train->loss = "mse";
  options.train->micro_batches = parts;
  return options;
}

ImportOptions AtBatch(int64_t batch) {
  ImportOptions options;
  options.batch = batch;
  return options;
}

// Builds x[4, 6], from which `nodes` make the z of y = z w.
template <typename Nodes>
OnnxBuilder Linear(const Nodes& nodes) {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  nodes(builder);
  builder.Weight("w", {6, 3});
  builder.Node("MatMul", {"z", "w"}, {"y"});
  builder.Output("y");
  return builder;
}

// The same, with the number of examples, f32[1], as 'f'.
template <typename Nodes>
OnnxBuilder Counting(const Nodes& nodes) {
  return Linear([&](OnnxBuilder& builder) {
    builder.Node("Shape", {"x"}, {"s"});
    builder.Integers("zero", {0});
    builder.Node("Gather", {"s", "zero"}, {"count"});
    compiler::SetInt(builder.Node("Cast", {"count"}, {"f"}), "to", ::onnx::TensorProto::FLOAT);
    nodes(builder);
  });
}

OnnxBuilder Resized() {
  OnnxBuilder builder;
  builder.Input("x", {4, 2, 3, 3});
  builder.Weight("w", {3, 2, 1, 1});
  builder.Node("Conv", {"x", "w"}, {"h"});
  builder.Integers("sizes", {4, 3, 5, 7});
  builder.Node("Resize", {"h", "", "", "sizes"}, {"y"});
  builder.Output("y");
  return builder;
}

absl::Status ErrorOf(const OnnxBuilder& builder, const ImportOptions& options) {
  return compiler::ImportFile(builder.Save(), options).status();
}

Dims OutputOf(const OnnxBuilder& builder, const ImportOptions& options) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  return WholeDims(model->graph.tensors[model->graph.outputs[0]]);
}

TEST_CASE("sizes of a Resize that hold the batch follow it") {
  CHECK(OutputOf(Resized(), AtBatch(6)) == Dims{6, 3, 5, 7});
  CHECK(OutputOf(Resized(), AtBatch(2)) == Dims{2, 3, 5, 7});
  CHECK_THAT(ErrorOf(Resized(), InParts(2)), IsOk());
  CHECK_THAT(ErrorOf(Resized(), InParts(4)), IsOk());
}

TEST_CASE("a number of rows that reads all examples of the file drops none of another batch") {
  const OnnxBuilder gathered = Linear([](OnnxBuilder& builder) {
    builder.Integers("rows", {0, 1, 2, 3});
    builder.Node("Gather", {"x", "rows"}, {"z"});
  });
  CHECK(OutputOf(gathered, AtBatch(4)) == Dims{4, 3});
  CHECK_THAT(ErrorOf(gathered, AtBatch(6)), Fails("makes 'z' of [4, 6], where it would be of"));
  for (const bool from_end : {false, true}) {
    const OnnxBuilder cut = Linear([&](OnnxBuilder& builder) {
      builder.Integers("begin", {from_end ? -4 : 0});
      builder.Integers("end", {from_end ? 1000 : 4});
      builder.Node("Slice", {"x", "begin", "end"}, {"z"});
    });
    CHECK_THAT(ErrorOf(cut, AtBatch(6)), Fails("node 'node_z' (slice) makes 'z' of [4, 6]"));
    CHECK(OutputOf(cut, AtBatch(3)) == Dims{3, 3});
    CHECK_THAT(ErrorOf(cut, InParts(2)), IsOk());
  }
}

TEST_CASE("parts of a batch do not compute with numbers of their own") {
  const OnnxBuilder scaled =
      Counting([](OnnxBuilder& builder) { builder.Node("Div", {"x", "f"}, {"z"}); });
  const char* const advice = "the loss of the parts would not be that of the whole";
  for (const int parts : {2, 4}) {
    CHECK_THAT(
        ErrorOf(scaled, InParts(parts)),
        Fails("node 'node_z' (div) computes with how many examples there are, which is 'f'"));
    CHECK_THAT(ErrorOf(scaled, InParts(parts)), Fails(advice));
  }
  CHECK(OutputOf(scaled, AtBatch(6)) == Dims{6, 3});  // the file divides by what it is given
  const OnnxBuilder chosen = Counting([](OnnxBuilder& builder) {
    builder.Integers("three", {3});
    builder.Node("Greater", {"count", "three"}, {"many"});
    builder.Node("Neg", {"x"}, {"minus"});
    builder.Node("Where", {"many", "x", "minus"}, {"z"});
  });
  CHECK_THAT(ErrorOf(chosen, InParts(2)), Fails("which is 'many'"));
  const OnnxBuilder cut = Counting([](OnnxBuilder& builder) {
    builder.Integers("one", {1});
    builder.Node("Slice", {"x", "zero", "count", "one"}, {"part"});
    builder.Node("ReduceSum", {"part", "one"}, {"sum"});
    builder.Node("Mul", {"x", "sum"}, {"z"});
  });
  CHECK_THAT(ErrorOf(cut, InParts(2)), Fails("makes 'part'"));
}

// An If whose branches are y = x + x and y = -x.
OnnxBuilder Branching() {
  return Counting([](OnnxBuilder& builder) {
    builder.Integers("three", {3});
    builder.Node("Greater", {"count", "three"}, {"many"});
    ::onnx::NodeProto& node = builder.Node("If", {"many"}, {"z"});
    for (const bool then : {true, false}) {
      ::onnx::AttributeProto& branch = *node.add_attribute();
      branch.set_name(then ? "then_branch" : "else_branch");
      branch.set_type(::onnx::AttributeProto::GRAPH);
      ::onnx::NodeProto& inside = *branch.mutable_g()->add_node();
      inside.set_op_type(then ? "Add" : "Neg");
      for (int i = 0; i < (then ? 2 : 1); ++i) inside.add_input("x");
      inside.add_output("t");
      branch.mutable_g()->add_output()->set_name("t");
    }
  });
}

TEST_CASE("parts of a batch take the branch that the whole takes") {
  CHECK_THAT(ErrorOf(Branching(), InParts(2)),
             Fails("how many examples there are decides whether 'z/"));
  CHECK_THAT(ErrorOf(Branching(), InParts(1)), IsOk());
}

TEST_CASE("what nobody reads is in nobody's way") {
  const OnnxBuilder masked =
      Linear([](OnnxBuilder& builder) { builder.Node("Dropout", {"x"}, {"z", "mask"}); });
  CHECK_THAT(ErrorOf(masked, InParts(2)), IsOk());
}

TEST_CASE("a value that is computed for each example is said to be in the way") {
  const OnnxBuilder counted = Linear([](OnnxBuilder& builder) {
    builder.Node("Shape", {"x"}, {"s"});
    builder.Integers("zero", {0});
    builder.Node("Gather", {"s", "zero"}, {"count"});
    builder.Node("Squeeze", {"count"}, {"n"});
    builder.Node("Squeeze", {"zero"}, {"first"});
    builder.Integers("by", {1});
    builder.Node("Squeeze", {"by"}, {"step"});
    builder.Node("Range", {"first", "n", "step"}, {"places"});
    compiler::SetInt(builder.Node("Cast", {"places"}, {"floats"}), "to",
                     ::onnx::TensorProto::FLOAT);
    builder.Integers("axis", {1});
    builder.Node("Unsqueeze", {"floats", "axis"}, {"column"});
    builder.Node("Add", {"x", "column"}, {"z"});
  });
  ImportOptions options = InParts(2);
  options.batch_dims = {{"", "x", 0}};
  CHECK_THAT(ErrorOf(counted, options), Fails("which is not the same for all examples, has the "
                                              "batch, dimension 0 of 'x'"));
}

}  // namespace
}  // namespace yuba::onnx
