// What the batch is: by the file's names, by --batch-dim, or by what the nodes do along dimensions.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "opsemantics/base/mesh.h"
#include "search/space/pin_text.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::OnnxBuilder;

ImportOptions Training(int64_t parts, const std::string& loss = "mse") {
  ImportOptions options;
  options.train.emplace();
  options.train->optimizer = "sgd";
  options.train->loss = loss;
  options.train->micro_batches = parts;
  return options;
}

ImportOptions With(ImportOptions options, const BatchDim& dim) {
  options.batch_dims = {dim};
  return options;
}

void NameDim(OnnxBuilder& builder, int input, int dim, const std::string& name) {
  builder.proto()
      .mutable_graph()
      ->mutable_input(input)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(dim)
      ->set_dim_param(name);
}

compiler::Model ModelOf(const OnnxBuilder& builder, const ImportOptions& options) {
  absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  return *std::move(model);
}

absl::Status ErrorOf(const OnnxBuilder& builder, const ImportOptions& options) {
  return compiler::ImportFile(builder.Save(), options).status();
}

// Of each input the dimensions, that of the batch marked: "x[4,6*,3]".
std::string InputsOf(const compiler::Model& model) {
  std::string text;
  for (const TensorId id : model.graph.inputs) {
    const Tensor& tensor = model.graph.tensors[id];
    text += (text.empty() ? "" : " ") + tensor.name + "[";
    const std::vector<int64_t> dims = WholeDims(tensor);
    for (size_t d = 0; d < dims.size(); ++d) {
      text += (d == 0 ? "" : ",") + std::to_string(dims[d]);
      if (static_cast<int>(d) == tensor.batch_dim) text += "*";
    }
    text += "]";
  }
  return text;
}

bool HasNote(const compiler::Model& model, const std::string& part) {
  for (const std::string& note : model.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

// Attention over a sequence, x [rows, columns, 4], whose `sequence` is dimension 0 or 1.
OnnxBuilder Attention(int sequence) {
  OnnxBuilder builder;
  builder.Input("x", {6, 6, 4});
  builder.Weight("w", {4, 4});
  std::string x = "x";
  if (sequence == 0) {
    compiler::SetInts(builder.Node("Transpose", {"x"}, {"b"}), "perm", {1, 0, 2});
    x = "b";
  }
  builder.Node("MatMul", {x, "w"}, {"q"});
  compiler::SetInts(builder.Node("Transpose", {x}, {"kt"}), "perm", {0, 2, 1});
  builder.Node("MatMul", {"q", "kt"}, {"scores"});
  builder.Node("Softmax", {"scores"}, {"p"});
  builder.Node("MatMul", {"p", x}, {"o"});
  if (sequence == 0) {
    compiler::SetInts(builder.Node("Transpose", {"o"}, {"y"}), "perm", {1, 0, 2});
  }
  builder.Output(sequence == 0 ? "y" : "o");
  return builder;
}

TEST_CASE("the batch is the dimension along which no node mixes anything, wherever it is") {
  CHECK(InputsOf(ModelOf(Attention(1), Training(1))) == "x[6*,6,4] labels[6*,6,4]");
  CHECK(InputsOf(ModelOf(Attention(0), Training(1))) == "x[6,6*,4] labels[6,6*,4]");
  const compiler::Model cut = ModelOf(Attention(0), Training(3));
  CHECK(InputsOf(cut) == "x[6,2*,4] labels[6,2*,4]");
  CHECK(HasNote(cut,
                "batch: dimension 1 of x and labels, the one dimension that inputs and labels "
                "share"));
  CHECK(HasNote(cut, "6 examples a step, in 3 parts of 2"));
  CHECK(InputsOf(ModelOf(Attention(0), ImportOptions())) == "x[6,6*,4]");  // without training
}

TEST_CASE("what has as many rows as the batch has examples is no batch for that") {
  OnnxBuilder builder;
  builder.Input("position", {1, 6, 4});
  builder.Input("x", {6, 6, 4});
  builder.Input("mask", {6, 6});
  builder.Node("Add", {"x", "position"}, {"h"});
  compiler::SetInts(builder.Node("Transpose", {"h"}, {"t"}), "perm", {0, 2, 1});
  builder.Weight("w", {4, 4});
  builder.Node("MatMul", {"h", "w"}, {"q"});
  builder.Node("MatMul", {"q", "t"}, {"s"});
  builder.Node("Add", {"s", "mask"}, {"m"});
  builder.Node("Softmax", {"m"}, {"p"});
  builder.Node("MatMul", {"p", "h"}, {"y"});
  builder.Output("y");
  const compiler::Model cut = ModelOf(builder, Training(3));
  CHECK(InputsOf(cut) == "position[1,6,4] x[2*,6,4] mask[6,6] labels[2*,6,4]");
  CHECK(HasNote(cut, "without it: position, mask"));
}

TEST_CASE("names and --batch-dim come before what nodes say, and errors name the node") {
  OnnxBuilder builder = Attention(0);
  CHECK_THAT(ErrorOf(builder, With(Training(2), {"", "x", 0})),
             Fails("combines each element with each along the batch, dimension 0 of 'x', as "
                   "--batch-dim says"));
  CHECK_THAT(ErrorOf(builder, With(Training(1), {"", "x", 3})),
             Fails("--batch-dim x:3: no input has such a dimension; the inputs are x [6, 6, 4]"));
  CHECK_THAT(ErrorOf(builder, With(Training(1), {"n", "", -1})), Fails("--batch-dim n: no input"));
  NameDim(builder, 0, 0, "batch");
  ImportOptions named = Training(2);
  named.dims["batch"] = 6;
  CHECK_THAT(ErrorOf(builder, named), Fails("dimension 0 of 'x', as the file names it"));
  CHECK(InputsOf(ModelOf(builder, With(named, {"", "x", 1}))) == "x[6,3*,4] labels[6,3*,4]");
}

TEST_CASE("of two that may be the batch --batch-dim takes one; a weight's dimension may not") {
  OnnxBuilder builder;
  builder.Input("x", {4, 6, 3});
  builder.Weight("scale", {3});
  builder.Node("Mul", {"x", "scale"}, {"y"});
  builder.Output("y");
  CHECK_THAT(ErrorOf(builder, Training(2)),
             Fails("--micro-batches 2: the batch may be dimension 0 of 'x' or dimension 1 of 'x'; "
                   "say which by --batch-dim"));
  CHECK_THAT(search::ParsePin(ModelOf(builder, Training(1)).graph, MeshOf(2), "batch=a").status(),
             Fails("--pin batch=a: the batch may be dimension 0 of 'x' or dimension 1 of 'x'"));
  const absl::StatusOr<std::vector<search::Pin>> pinned = search::ParsePin(
      ModelOf(builder, With(Training(1), {"", "x", 1})).graph, MeshOf(2), "batch=a");
  REQUIRE_THAT(pinned, IsOk());
  CHECK(!pinned->empty());
  CHECK(InputsOf(ModelOf(builder, Training(1))) == "x[4*,6,3] labels[4*,6,3]");  // for its data
  CHECK(InputsOf(ModelOf(builder, With(Training(2), {"", "x", 1}))) == "x[4,3*,3] labels[4,3*,3]");
  CHECK_THAT(ErrorOf(builder, With(Training(3), {"", "x", 2})),
             Fails("'scale', which is not the same for all examples, has the batch, dimension "
                   "2 of 'x', written in"));
}

TEST_CASE("--batch changes the dimension that the file calls so, and only that") {
  OnnxBuilder builder;
  builder.Input("x", {4, 6, 3});
  builder.Node("Relu", {"x"}, {"y"});
  builder.Output("y");
  NameDim(builder, 0, 0, "sequence");
  NameDim(builder, 0, 1, "batch");
  ImportOptions options;
  options.batch = 2;
  options.dims["sequence"] = 4;
  CHECK(InputsOf(ModelOf(builder, options)) == "x[4,2*,3]");
  options.dims = {{"batch", 6}};
  CHECK_THAT(ErrorOf(builder, options), Fails("--batch 2 and --dim batch=6 are two lengths"));
  NameDim(builder, 0, 0, "s0");
  NameDim(builder, 0, 1, "s1");
  options.dims = {{"s0", 4}};
  options.batch_dims = {{"s1", "", -1}};
  CHECK(InputsOf(ModelOf(builder, options)) == "x[4,2*,3]");
}

TEST_CASE("a node that reads some of the examples keeps their number, and is named") {
  OnnxBuilder builder;
  builder.Input("x", {6, 4});
  builder.Integers("starts", {0});
  builder.Integers("ends", {3});
  builder.Node("Slice", {"x", "starts", "ends"}, {"part"});
  builder.Node("Relu", {"part"}, {"y"});
  builder.Output("y");
  ImportOptions options = With({}, {"", "x", 0});
  options.batch = 4;
  CHECK_THAT(ErrorOf(builder, options),
             Fails("the batch, dimension 0 of 'x': --batch or --micro-batches cannot change it in "
                   "this graph"));
  CHECK_THAT(ErrorOf(builder, options), Fails("reads only some elements along the batch"));
}

TEST_CASE("two batches of one entry must have one length") {
  OnnxBuilder builder;
  builder.Input("x", {6, 3});
  builder.Input("z", {4, 3});
  NameDim(builder, 0, 0, "batch");
  NameDim(builder, 1, 0, "batch_size");
  builder.Integers("axes", {0});
  builder.Node("ReduceSum", {"z", "axes"}, {"mean"});
  builder.Node("Add", {"x", "mean"}, {"y"});
  builder.Output("y");
  builder.Weight("w", {3, 5});
  builder.Node("MatMul", {"y", "w"}, {"out"});
  builder.proto().mutable_graph()->clear_output();
  builder.Output("out");
  ImportOptions options = Training(2);
  options.dims = {{"batch", 6}, {"batch_size", 4}};
  CHECK_THAT(ErrorOf(builder, options),
             Fails("dimension 0 of 'z' and dimension 0 of 'labels' are both the batch, and have 4 "
                   "and 6 elements"));
}

// The sums over time of x [T, N, 3] times a weight, or, without `sums`, x times the weight.
OnnxBuilder OverTime(bool sums) {
  OnnxBuilder builder;
  builder.Input("x", {4, 6, 3});
  NameDim(builder, 0, 0, "T");
  NameDim(builder, 0, 1, "N");
  builder.Weight("w", {3, 5});
  builder.Node("MatMul", {"x", "w"}, {"h"});
  builder.Integers("axes", {0});
  if (sums) compiler::SetInt(builder.Node("ReduceSum", {"h", "axes"}, {"y"}), "keepdims", 0);
  builder.Output(sums ? "y" : "h");
  return builder;
}

TEST_CASE("--batch is the length of the batch that nodes show, wherever it is, and of no other") {
  struct Row {
    bool sums;
    std::map<std::string, int64_t> dims;
    int64_t batch;
    std::string inputs, error;
  };
  const std::vector<Row> rows = {
      {true, {{"T", 5}}, 4, "x[5,4*,3]", ""},
      {true, {{"T", 5}}, 1, "x[5,1*,3]", ""},
      {true, {{"T", 1}}, 4, "x[1,4*,3]", ""},
      {true, {}, 4, "", "the model has symbolic dimensions: give --dim T=N"},
      {true, {{"N", 6}}, 4, "", "--batch 4 and --dim N=6 are two lengths of the batch"},
      {true, {{"N", 6}, {"T", 5}}, 4, "", "--batch 4 and --dim N=6 are two lengths of the batch"},
      {true, {{"N", 4}, {"T", 5}}, 4, "x[5,4*,3]", ""},
      {false, {{"T", 5}}, 4, "x[5,4*,3]", ""},
      {false, {{"N", 5}}, 4, "x[4*,5,3]", ""},
      {false, {}, 4, "", "the batch may be dimension 0 of 'x' or dimension 1 of 'x'; say which"},
      {false, {{"N", 5}, {"T", 5}}, 4, "", "the batch may be dimension 0 of 'x' or dimension 1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.sums, row.dims, row.batch);
    ImportOptions options;
    options.dims = row.dims;
    options.batch = row.batch;
    const absl::StatusOr<compiler::Model> model =
        compiler::ImportFile(OverTime(row.sums).Save(), options);
    if (row.error.empty()) {
      REQUIRE_THAT(model, IsOk());
      CHECK(InputsOf(*model) == row.inputs);
    } else {
      CHECK_THAT(model.status(), Fails(row.error));
    }
  }
}

TEST_CASE(
    "--batch is the length of all dimensions that nodes make one, and of one without a name") {
  OnnxBuilder two;
  two.Input("x", {4, 3});
  two.Input("z", {4, 3});
  NameDim(two, 0, 0, "s0");
  NameDim(two, 1, 0, "s1");
  two.Node("Add", {"x", "z"}, {"sum"});
  two.Weight("w", {3, 5});
  two.Node("MatMul", {"sum", "w"}, {"y"});
  two.Output("y");
  ImportOptions options;
  options.batch = 4;
  CHECK(InputsOf(ModelOf(two, options)) == "x[4*,3] z[4*,3]");
  options.batch = 1;
  CHECK(InputsOf(ModelOf(two, options)) == "x[1*,3] z[1*,3]");

  OnnxBuilder unnamed = OverTime(true);
  NameDim(unnamed, 0, 0, "");
  options.dims = {{"N", 6}};
  options.batch = 6;
  CHECK_THAT(ErrorOf(unnamed, options),
             Fails("dimension 0 of input 'x' has neither a size nor a name in the file, and is not "
                   "the batch"));
  OnnxBuilder rows = OverTime(false);
  NameDim(rows, 0, 0, "");
  CHECK(InputsOf(ModelOf(rows, options)) == "x[6*,6,3]");
}

TEST_CASE("a dimension of one is not the batch where nodes show that another is") {
  OnnxBuilder builder = OverTime(true);
  auto& shape = *builder.proto().mutable_graph()->mutable_input(0)->mutable_type();
  shape.mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(1);
  shape.mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_value(6);
  ImportOptions options;
  options.batch = 4;
  CHECK(InputsOf(ModelOf(builder, options)) == "x[1,4*,3]");
}

TEST_CASE("where a model cannot be read with --batch as each open length, its error says so") {
  OnnxBuilder builder = OverTime(false);
  builder.Integers("shape", {7, -1, 3});
  builder.Node("Reshape", {"x", "shape"}, {"z"});
  builder.Output("z");
  ImportOptions options;
  options.batch = 4;
  CHECK_THAT(ErrorOf(builder, options),
             Fails("--batch 4 may be the length of N or T; give by --dim NAME=N what it is not"));
}

// An unrolled recurrence of x [batch, 3 steps, 4] whose first state, and shape of the steps' sum,
// have a batch of 6 written in.
OnnxBuilder Recurrence(float first_state) {
  OnnxBuilder builder;
  builder.Input("x", {6, 3, 4});
  builder.Weight("w", {4, 4});
  builder.Weight("h", {6, 4});
  auto& h = *builder.proto().mutable_graph()->mutable_initializer(1)->mutable_float_data();
  for (float& element : h) element = first_state;
  std::string state = "h";
  for (int64_t t = 0; t < 3; ++t) {
    const std::string n = std::to_string(t);
    builder.Integers("t" + n, {t});
    compiler::SetInt(builder.Node("Gather", {"x", "t" + n}, {"step" + n}), "axis", 1);
    builder.Integers("shape" + n, {6, 4});
    builder.Node("Reshape", {"step" + n, "shape" + n}, {"row" + n});
    builder.Node("MatMul", {state, "w"}, {"product" + n});
    builder.Node("Add", {"product" + n, "row" + n}, {"state" + n});
    state = "state" + n;
  }
  builder.Integers("as", {6, 2, 2});
  builder.Node("Reshape", {state, "as"}, {"y"});
  builder.Output("y");
  return builder;
}

TEST_CASE("a batch that is written into shapes and first states changes there too") {
  const compiler::Model cut = ModelOf(Recurrence(0), Training(3));
  CHECK(InputsOf(cut) == "x[2*,3,4] labels[2*,2,2]");
  CHECK(HasNote(cut, "the same for all examples, and not trained: h"));
  ImportOptions more;
  more.batch = 9;
  const compiler::Model larger = ModelOf(Recurrence(0.5f), more);
  CHECK(InputsOf(larger) == "x[9*,3,4]");
  CHECK(WholeDims(larger.graph.tensors[larger.graph.outputs[0]]) == std::vector<int64_t>{9, 2, 2});
  CHECK_THAT(ErrorOf(Recurrence(0.5f), Training(3)),
             Fails("is one of 'h', a parameter with a value for each example"));
}

TEST_CASE("a file with a batch of one has another by --batch") {
  OnnxBuilder builder;
  builder.Input("x", {1, 3, 4});
  builder.Weight("w", {3, 5});
  compiler::SetInts(builder.Node("Transpose", {"x"}, {"t"}), "perm", {0, 2, 1});
  builder.Node("MatMul", {"t", "w"}, {"h"});
  builder.Node("Softmax", {"h"}, {"p"});
  builder.Integers("axes", {1});
  compiler::SetInt(builder.Node("ReduceSum", {"p", "axes"}, {"y"}), "keepdims", 0);
  builder.Output("y");
  ImportOptions options;
  options.batch = 6;
  CHECK(InputsOf(ModelOf(builder, options)) == "x[6*,3,4]");
  CHECK(InputsOf(ModelOf(builder, Training(1))) == "x[1*,3,4] labels[1*,5]");
  ImportOptions training = Training(3);
  training.batch = 6;
  CHECK(InputsOf(ModelOf(builder, training)) == "x[2*,3,4] labels[2*,5]");
}

TEST_CASE("first states that are computed from constants have the batch too") {
  OnnxBuilder builder;
  builder.Input("x", {6, 4});
  builder.Weight("w", {4, 4});
  builder.Weight("h", {6, 4});
  auto& h = *builder.proto().mutable_graph()->mutable_initializer(1);
  for (float& element : *h.mutable_float_data()) element = 0;
  *builder.Node("Constant", {}, {"zeros"}).add_attribute()->mutable_t() = h;
  auto& value = *builder.proto().mutable_graph()->mutable_node(0)->mutable_attribute(0);
  value.set_name("value");
  value.set_type(::onnx::AttributeProto::TENSOR);
  builder.proto().mutable_graph()->mutable_initializer()->RemoveLast();
  builder.Node("Tanh", {"zeros"}, {"state"});
  builder.Node("Add", {"x", "state"}, {"both"});
  builder.Node("MatMul", {"both", "w"}, {"y"});
  builder.Output("y");
  CHECK(InputsOf(ModelOf(builder, Training(3))) == "x[2*,4] labels[2*,4]");
}

TEST_CASE("labels may have the tokens of all examples in one dimension") {
  OnnxBuilder builder = Attention(1);
  builder.Integers("rows", {-1, 4});
  builder.Node("Reshape", {"o", "rows"}, {"y"});
  builder.proto().mutable_graph()->clear_output();
  builder.Output("y");
  CHECK(InputsOf(ModelOf(builder, Training(2, "softmax-cross-entropy"))) ==
        "x[3*,6,4] labels[18*]");
  OnnxBuilder other = Attention(0);
  other.Integers("rows", {-1, 4});
  other.Node("Reshape", {"y", "rows"}, {"z"});
  other.proto().mutable_graph()->clear_output();
  other.Output("z");
  CHECK_THAT(ErrorOf(other, Training(2, "softmax-cross-entropy")),
             Fails("dimension 0 of 'labels' has the batch inside of another dimension"));
}

TEST_CASE("statistics of a batch are apart, and said") {
  OnnxBuilder builder;
  builder.Input("x", {6, 4, 5});
  for (const char* name : {"scale", "bias", "mean", "variance"}) builder.Weight(name, {4});
  ::onnx::NodeProto& norm = builder.Node(
      "BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"n", "m", "v"});
  compiler::SetInt(norm, "training_mode", 1);
  builder.Integers("axes", {2});
  compiler::SetInt(builder.Node("ReduceMean", {"n", "axes"}, {"y"}), "keepdims", 0);
  builder.proto().mutable_opset_import(0)->set_version(18);
  builder.Output("y");
  const compiler::Model cut = ModelOf(builder, Training(2, "softmax-cross-entropy"));
  CHECK(InputsOf(cut) == "x[3*,4,5] labels[3*]");
  CHECK(HasNote(cut, "statistics of the batch are those of each part, as in node 'node_n'"));
}

}  // namespace
}  // namespace yuba::onnx
