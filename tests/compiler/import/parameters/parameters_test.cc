// What is trained: what the file calls parameters; where it does not say, what operators call so.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "compiler/import/parameters/export_record.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::OnnxBuilder;
using compiler::SetInt;

constexpr char kKind[] = "pkg.torch.export.graph_signature.InputSpec.kind";
constexpr char kSignature[] = "pkg.torch.export.ExportedProgram.graph_signature";
constexpr char kCall[] = "pkg.torch.onnx.fx_node";

absl::StatusOr<compiler::Model> Trained(const OnnxBuilder& builder,
                                        std::vector<std::string> trainable = {},
                                        std::vector<std::string> freeze = {}) {
  ImportOptions options;
  options.train = TrainOptions{"sgd", "mse", "", std::move(freeze)};
  options.train->trainable = std::move(trainable);
  options.train->list_all = true;
  return compiler::ImportFile(builder.Save(), options);
}

// The names of what a step changes, sorted: "b w".
std::string Names(const absl::StatusOr<compiler::Model>& model) {
  REQUIRE_THAT(model, IsOk());
  std::vector<std::string> names;
  for (const Tensor& tensor : model->graph.tensors) {
    if (IsCarried(tensor)) names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

bool Notes(const absl::StatusOr<compiler::Model>& model, const std::string& text) {
  return std::any_of(model->notes.begin(), model->notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

// y = x * w + table
OnnxBuilder WithTable() {
  OnnxBuilder builder;
  builder.Input("x", {2, 3, 4});
  builder.Weight("w", {4});
  builder.Weight("table", {3, 4});
  builder.Node("Mul", {"x", "w"}, {"h"});
  builder.Node("Add", {"h", "table"}, {"y"});
  builder.Output("y");
  return builder;
}

TEST_CASE("parameters are trained and buffers are not") {
  OnnxBuilder builder = WithTable();
  CHECK(Names(Trained(builder)) == "table w");
  builder.SayOfValue("w", kKind, "PARAMETER");
  builder.SayOfValue("table", kKind, "BUFFER");
  const auto model = Trained(builder);
  CHECK(Names(model) == "w");
  CHECK(Notes(model, "1 parameter, 1 buffer"));
  CHECK(Notes(model, "not trained: table (a buffer)"));
  CHECK(Names(Trained(builder, {"t*"})) == "table w");
  CHECK(Names(Trained(builder, {"*"}, {"w"})) == "table");
}

TEST_CASE("what has no word in a file with some is judged by who reads it") {
  OnnxBuilder builder = WithTable();
  builder.SayOfValue("w", kKind, "PARAMETER");
  CHECK(Names(Trained(builder)) == "table w");  // a head made by hand
  OnnxBuilder::SayOfNode(*builder.proto().mutable_graph()->mutable_node(1), kCall,
                         "%add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor]("
                         "args = (%mul, %cos), kwargs = {})");
  const auto model = Trained(builder);
  CHECK(Names(model) == "w");
  CHECK(Notes(model, "not trained as stored by its exporter: 1"));
  CHECK(Notes(model, "table (no parameter in PyTorch)"));
}

TEST_CASE("a word that a tool has dropped is found in the call") {
  OnnxBuilder builder = WithTable();
  builder.SayOfGraph("pkg.torch.export.ExportedProgram.graph_signature",
                     "\n# inputs\np_w: PARAMETER target='w'\nb_table: BUFFER target='table' "
                     "persistent=True\nx: USER_INPUT\n\n# outputs\nadd: USER_OUTPUT\n");
  ::onnx::GraphProto& graph = *builder.proto().mutable_graph();
  OnnxBuilder::SayOfNode(*graph.mutable_node(0), kCall,
                         "%mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor]("
                         "args = (%x, %p_w), kwargs = {})");
  OnnxBuilder::SayOfNode(*graph.mutable_node(1), kCall, "%add, which nobody can read");
  const auto model = Trained(builder);
  CHECK(Names(model) == "w");
  CHECK(Notes(model, "not understood, of 1 node"));
}

TEST_CASE("a signature or kind that cannot be read is a note") {
  const auto noted = [](const std::string& signature, const std::string& note) {
    OnnxBuilder builder = WithTable();
    builder.SayOfGraph(kSignature, signature);
    INFO(signature);
    CHECK(Notes(Trained(builder), note));
  };
  const std::string good = "\n# inputs\np_w: PARAMETER target='w'\n\n# outputs\n",
                    unread = "what the exporter wrote is not understood: ";
  noted("%%% no signature", unread + "'%%% no signature' of the graph's signature");
  noted("", unread + "the graph's signature, which is empty");
  noted(good + "one\ntwo\n", unread + "'one' and 1 more of the graph's signature");
  noted(good + "y: USER_OUT", unread + "'y: USER_OUT' of");
  noted(good + "b_t: BUFFER", unread + "'b_t: BUFFER' of");
  for (const char* line : {"y: USER_OUTPUT", "add_1: BUFFER_MUTATION target='mean'", "token: TOKEN",
                           "o: CUSTOM_OBJ target='o'", "b_t: BUFFER target='a: b' persistent=False",
                           "g: GRADIENT_TO_PARAMETER target='w'"}) {
    OnnxBuilder builder = WithTable();
    builder.SayOfGraph(kSignature, good + line);
    INFO(line);
    CHECK_FALSE(Notes(Trained(builder), "not understood"));
  }
  OnnxBuilder builder = WithTable();
  builder.SayOfValue("w", kKind, "XYZ");
  builder.SayOfValue("table", kKind, "XYZ");
  CHECK(Notes(Trained(builder), unread + "'XYZ', the kind of w and 1 more"));
}

// y = prelu(x w + b), all of one element, times a number and plus another.
OnnxBuilder Numbers() {
  OnnxBuilder builder;
  builder.Input("x", {5, 3});
  builder.Weight("w", {3, 1});
  builder.Weight("b", {1});
  builder.Weight("slope", {1});
  builder.Weight("scale", {});
  builder.Node("Constant", {}, {"two"});
  ::onnx::AttributeProto* value = builder.proto().mutable_graph()->mutable_node(0)->add_attribute();
  value->set_name("value_float");
  value->set_type(::onnx::AttributeProto::FLOAT);
  value->set_f(2);
  builder.Node("Gemm", {"x", "w", "b"}, {"h"});
  builder.Node("PRelu", {"h", "slope"}, {"p"});
  builder.Node("Mul", {"p", "scale"}, {"m"});
  builder.Node("Add", {"m", "two"}, {"y"});
  builder.Output("y");
  return builder;
}

TEST_CASE("numbers are trained where the file or an operator calls them parameters") {
  OnnxBuilder builder = Numbers();
  const auto model = Trained(builder);
  CHECK(Names(model) == "b slope w");
  CHECK(Notes(model, "bias, slope or scale: scale (--trainable NAME trains one)"));
  CHECK(Names(Trained(builder, {"scale"})) == "b scale slope w");
  CHECK_THAT(Trained(builder, {"two"}),
             StatusIs(absl::StatusCode::kInvalidArgument, "a Constant node is never trained"));
  builder.SayOfValue("scale", kKind, "PARAMETER");
  CHECK(Names(Trained(builder)) == "b scale slope w");
}

TEST_CASE("what is added to a product of matrices is a bias") {
  OnnxBuilder builder;
  builder.Input("x", {2, 5, 3});
  builder.Weight("w", {3, 1});
  builder.Weight("b", {1});
  builder.Weight("c", {1});
  builder.Node("MatMul", {"x", "w"}, {"h"});
  builder.Node("Add", {"b", "h"}, {"g"});
  builder.Node("Add", {"g", "c"}, {"y"});
  builder.Output("y");
  CHECK(Names(Trained(builder)) == "b w");
}

TEST_CASE("what a node calls a view, it calls the stored number") {
  OnnxBuilder builder;
  builder.Input("x", {2, 3, 4});
  builder.Weight("slope", {1});
  builder.Weight("scale", {1});
  builder.Integers("axes", {0});
  builder.Node("Unsqueeze", {"slope", "axes"}, {"s"});
  builder.Node("Unsqueeze", {"scale", "axes"}, {"t"});
  builder.Node("PRelu", {"x", "s"}, {"h"});
  builder.Node("Mul", {"h", "t"}, {"y"});
  builder.Output("y");
  CHECK(Names(Trained(builder)) == "slope");
}

TEST_CASE("zeros that only begin recurrences are not trained") {
  for (const bool zeros : {true, false}) {
    for (const bool word : {true, false}) {
      OnnxBuilder builder;
      builder.Input("x", {2, 2, 3});
      builder.Weight("w", {1, 2, 3});
      builder.Weight("r", {1, 2, 2});
      builder.Weight("b", {1, 4});
      builder.Weight("h0", {1, 2, 2});
      for (float& element :
           *builder.proto().mutable_graph()->mutable_initializer(3)->mutable_float_data()) {
        if (zeros) element = 0;
      }
      compiler::SetInt(builder.Node("RNN", {"x", "w", "r", "b", "", "h0"}, {"y"}), "hidden_size",
                       2);
      builder.Output("y");
      if (word) builder.SayOfValue("h0", kKind, "PARAMETER");
      const auto model = Trained(builder);
      CHECK(Names(model) == (zeros && !word ? "b r w" : "b h0 r w"));
      CHECK(Notes(model, "h0 (zeros that recurrences begin with)") == (zeros && !word));
    }
  }
}

TEST_CASE("a call of an exported program is read") {
  OnnxBuilder builder;
  ::onnx::NodeProto& node = builder.Node("LSTM", {"x"}, {"y"});
  OnnxBuilder::SayOfNode(
      node, kCall,
      "%lstm : [num_users=1] = call_function[target=torch.ops.aten.lstm.input](args = (%x, [%z, "
      "%z_1], [%p_r_weight, %p_r_bias], True, 'a, %b', 0.0), kwargs = {out: %k})");
  const NodeRecord record = ReadNodeRecord(node);
  REQUIRE(record.call.has_value());
  CHECK(record.call->target == "aten.lstm.input");
  REQUIRE(record.call->arguments.size() == 6);
  CHECK(record.call->arguments[1] == std::vector<std::string>{"z", "z_1"});
  CHECK(record.call->arguments[2] == std::vector<std::string>{"p_r_weight", "p_r_bias"});
  CHECK(record.call->arguments[3].empty());
  CHECK(std::count(record.call->values.begin(), record.call->values.end(), "k") == 1);
}

std::string Call(const std::string& target, const std::string& arguments,
                 const std::string& result = "y") {
  return "%" + result + " : [num_users=1] = call_function[target=torch.ops." + target +
         "](args = (" + arguments + "), kwargs = {})";
}

// y = (x * g) * g, whose calls are x * a and h * b, of which the file has a alone: as g, with b's
// value.
OnnxBuilder Merged(const std::string& first, const std::string& second, bool signature = true) {
  OnnxBuilder builder;
  builder.Input("x", {3, 4});
  builder.Weight("a", {4});
  ::onnx::NodeProto& one = builder.Node("Mul", {"x", "a"}, {"mul"});
  OnnxBuilder::SayOfNode(one, kCall, Call("aten.mul.Tensor", "%x, %" + first, "mul"));
  ::onnx::NodeProto& two = builder.Node("Mul", {"mul", "a"}, {"y"});
  OnnxBuilder::SayOfNode(two, kCall, Call("aten.mul.Tensor", "%mul, %" + second));
  builder.Output("y");
  builder.SayOfValue("a", kKind, "PARAMETER");
  builder.SayOfValue("a", "pkg.torch.onnx.original_node_name", "p_a");
  if (signature)
    builder.SayOfGraph(kSignature, "p_a: PARAMETER target='a'\np_b: PARAMETER target='b'\n");
  return builder;
}

TEST_CASE("equal parameters that are stored once are trained each by itself") {
  const auto apart = Trained(Merged("p_a", "p_b"));
  CHECK(Names(apart) == "a b");
  CHECK(Notes(apart, "stores once with equal ones: b"));
  const auto tied = Trained(Merged("p_a", "p_a"));
  CHECK(Names(tied) == "a");
  CHECK(Notes(tied, "unused or tied to others: b"));
}

// y = f(x * a), where f of the program was of something else, and b is named by no call.
OnnxBuilder Lost(const std::string& operand, const std::string& output = "y") {
  OnnxBuilder builder;
  builder.Input("x", {3, 4});
  builder.Weight("a", {4});
  OnnxBuilder::SayOfNode(builder.Node("Mul", {"x", "a"}, {"mul"}), kCall,
                         Call("aten.mul.Tensor", "%x, %p_a", "mul"));
  OnnxBuilder::SayOfNode(builder.Node("Tanh", {"mul"}, {"y"}), kCall,
                         Call("aten.tanh.default", "%" + operand));
  builder.Output("y");
  builder.SayOfValue("a", kKind, "PARAMETER");
  builder.SayOfGraph(
      kSignature, "p_a: PARAMETER target='a'\np_b: PARAMETER target='b'\nx: USER_INPUT\n" + output +
                      ": USER_OUTPUT\n");
  return builder;
}

TEST_CASE("a parameter is missing where results are gone that it may have been part of") {
  CHECK_THAT(Trained(Lost("mul_1")), Fails("b (no node names it, and mul_1 and mul are one)"));
  CHECK_THAT(Trained(Lost("add")), Fails("b (no node names it, and add is not there)"));
  CHECK_THAT(Trained(Lost("mul", "mul_2")), Fails("b (no node names it, and mul_2 is not there)"));
  for (const char* operand : {"mul", "dropout"}) {
    const auto kept = Trained(Lost(operand));
    CHECK(Names(kept) == "a");
    CHECK(Notes(kept, "unused or tied to others: b"));
  }
  // Two calls name a, so that b may be tied to it.
  OnnxBuilder tied = Lost("mul_1");
  tied.proto().mutable_graph()->mutable_node(1)->set_output(0, "h");
  OnnxBuilder::SayOfNode(tied.Node("Mul", {"h", "a"}, {"y"}), kCall,
                         Call("aten.mul.Tensor", "%y, %p_a", "mul_9"));
  CHECK(Notes(Trained(tied), "unused or tied to others: b"));
}

// y = sigmoid(x * a) + x * a, where the program has something else for one of them.
OnnxBuilder Once(const std::vector<int64_t>& dims, const std::string& other) {
  OnnxBuilder builder;
  builder.Input("x", {3, 4});
  builder.Weight("a", dims);
  OnnxBuilder::SayOfNode(builder.Node("Mul", {"x", "a"}, {"mul"}), kCall,
                         Call("aten.mul.Tensor", "%x, %p_a", "mul"));
  OnnxBuilder::SayOfNode(builder.Node("Sigmoid", {"mul"}, {"sigmoid"}), kCall,
                         Call("aten.sigmoid.default", "%" + other, "sigmoid"));
  OnnxBuilder::SayOfNode(builder.Node("Add", {"sigmoid", "mul"}, {"y"}), kCall,
                         Call("aten.add.Tensor", "%sigmoid, %mul", "y"));
  builder.Output("y");
  builder.SayOfValue("a", kKind, "PARAMETER");
  builder.SayOfGraph(kSignature, "p_a: PARAMETER target='a'\nx: USER_INPUT\ny: USER_OUTPUT\n");
  return builder;
}

TEST_CASE("a number may be a constant in an equal expression that is gone") {
  CHECK(Names(Trained(Once({1}, "mul"))) == "a");
  CHECK_THAT(Trained(Once({1}, "mul_1")),
             Fails("mul_1 (computed once with mul, in which an equal number may be a)"));
  CHECK(Names(Trained(Once({4}, "mul_1"))) == "a");
}

TEST_CASE("a parameter that something unknown stands for is missing") {
  OnnxBuilder builder;
  builder.Input("x", {3, 4});
  builder.Weight("v", {4, 4});
  OnnxBuilder::SayOfNode(builder.Node("MatMul", {"x", "v"}, {"h"}), kCall,
                         Call("aten.matmul.default", "%x, %permute", "h"));
  OnnxBuilder::SayOfNode(builder.Node("MatMul", {"h", "v"}, {"y"}), kCall,
                         Call("aten.matmul.default", "%h, %p_v", "y"));
  builder.Output("y");
  builder.SayOfValue("v", kKind, "PARAMETER");
  builder.SayOfGraph(kSignature,
                     "p_v: PARAMETER target='v'\np_w: PARAMETER target='w'\n"
                     "x: USER_INPUT\ny: USER_OUTPUT\n");
  CHECK_THAT(Trained(builder), Fails("v (perhaps permute is stored as v)"));
}

TEST_CASE("a symmetric matrix under its own name is what its readers say") {
  const auto named = [](const std::string& op, const std::string& call) {
    OnnxBuilder builder;
    builder.Input("x", {3, 4});
    builder.Weight("w", {4, 4});
    OnnxBuilder::SayOfNode(builder.Node(op, {"x", "w"}, {"y"}), kCall, call);
    builder.Output("y");
    builder.SayOfValue("w", kKind, "PARAMETER");
    builder.SayOfGraph(kSignature, "p_w: PARAMETER target='w'\nx: USER_INPUT\n");
    return Names(Trained(builder));
  };
  CHECK(named("MatMul", Call("aten.linear.default", "%x, %p_w")) == "w, transposed");
  CHECK(named("MatMul", Call("aten.matmul.default", "%x, %p_w")) == "w");
}

// The first running mean after a step of two norms with the same statistics, of x and of z. The
// second reads what the first has moved where it says so, else what is stored.
void MovesTwice(bool says_so) {
  OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Input("z", {2, 3});
  for (const char* name : {"s", "b", "m", "v"}) builder.Weight(name, {3});
  for (const auto& [input, output] : {std::pair("x", "p"), std::pair("z", "q")}) {
    const std::string made = output, of = says_so && made == "q" ? "p_" : "";
    ::onnx::NodeProto& node =
        builder.Node("BatchNormalization", {input, "s", "b", of + "m", of + "v"},
                     {made, made + "_m", made + "_v"});
    SetInt(node, "training_mode", 1);
    compiler::SetFloat(node, "momentum", 0.5);
  }
  builder.Node("Add", {"p", "q"}, {"y"});
  builder.Output("y");
  const auto model = Trained(builder);
  REQUIRE_THAT(model, IsOk());
  std::vector<TensorValue> inputs;
  for (const TensorId id : model->graph.inputs) {
    const Tensor& tensor = model->graph.tensors[id];
    TensorValue value;
    value.type = tensor.type;
    value.elements.resize(6);
    for (Scalar& element : value.elements) element.number = tensor.name == "z" ? 8 : 4;
    inputs.push_back(std::move(value));
  }
  const auto outputs = compiler::RunWhole(*model, inputs);
  REQUIRE_THAT(outputs, IsOk());
  // m begins as 0.1, 0.2, 0.3.
  const double expected = (0.1 / 2 + 4.0 / 2) / 2 + 8.0 / 2;
  CHECK(std::any_of(outputs->begin(), outputs->end(), [&](const TensorValue& value) {
    return value.elements.size() == 3 && std::abs(value.elements[0].number - expected) < 1e-6;
  }));
}

TEST_CASE("a batch norm that is used twice moves its running statistics twice") {
  MovesTwice(false);
  MovesTwice(true);
}

// y = x v, where v is made of w.
OnnxBuilder Folded(const std::string& name, const std::string& of, const std::string& call,
                   bool signature = true) {
  OnnxBuilder builder;
  builder.Input("x", {5, 3});
  builder.Weight(name, {3, 4});
  OnnxBuilder::SayOfNode(builder.Node("MatMul", {"x", name}, {"y"}), kCall, call);
  builder.Output("y");
  builder.SayOfValue(name, "pkg.onnxscript.optimizer.folded_from", of);
  if (signature)
    builder.SayOfGraph(kSignature, "p_w: PARAMETER target='w'\np_v: PARAMETER target='v'\n");
  return builder;
}

TEST_CASE("what folding has put in another order is the parameter, products are none") {
  const std::string linear = Call("aten.linear.default", "%x, %p_w"),
                    matmul = Call("aten.matmul.default", "%x, %t");
  CHECK(Names(Trained(Folded("val_1", "['w']", linear))) == "w, transposed");
  CHECK(Names(Trained(Folded("t", "['w']", matmul))) == "w, transposed");
  CHECK(Names(Trained(Folded("view", "['val_0', 'w']", matmul))) == "w, reshaped");
  CHECK(Names(Trained(Folded("permute", "['view', 'w']", matmul))) == "permute");
  CHECK_THAT(Trained(Folded("val_1", "['w']", linear), {}, {"w"}),
             Fails("w, transposed (--freeze)"));
}

TEST_CASE("where a tool has dropped the graph's signature, calls say what parameters are") {
  const std::string linear = Call("aten.linear.default", "%x, %p_w");
  CHECK(Names(Trained(Folded("val_1", "['w']", linear, false))) == "w, transposed");
  const std::string product = Call("aten.mul.Tensor", "%x, %p_w");
  CHECK_THAT(Trained(Folded("val_1", "['w', 'v']", product, false)), Fails("w (part of val_1)"));
  CHECK(Names(Trained(Merged("p_a", "p_b_weight", false))) == "a p_b_weight");
}

TEST_CASE("parameters that an export has lost are an error") {
  const std::string matmul = Call("aten.matmul.default", "%x, %mul");
  const auto lost = Trained(Folded("mul", "['v', 'w']", matmul));
  CHECK_THAT(lost, StatusIs(absl::StatusCode::kInvalidArgument,
                            "it lacks v (part of mul), w (part of mul): PyTorch's default"));
  CHECK_THAT(lost, Fails("dynamo=False"));
  ImportOptions options;
  options.train = TrainOptions{"sgd", "mse"};
  options.train->allow_missing = true;
  options.train->trainable = {"mul"};
  const OnnxBuilder builder = Folded("mul", "['v', 'w']", matmul);
  CHECK(Names(compiler::ImportFile(builder.Save(), options)) == "mul");
  CHECK_THAT(Trained(Folded("exp", "['w']", matmul)), Fails("w (part of exp)"));
  // w is trained where it is stored, and its exponential would stay as it is.
  OnnxBuilder both = Folded("exp", "['w']", matmul);
  both.Weight("w", {4, 2});
  both.SayOfValue("w", kKind, "PARAMETER");
  both.proto().mutable_graph()->mutable_node(0)->set_output(0, "h");
  both.Node("MatMul", {"h", "w"}, {"y"});
  CHECK_THAT(Trained(both), Fails("w (as part of exp)"));
  CHECK_THAT(Trained(Folded("expand", "['val_0', 'w']", matmul)), Fails("w (part of expand)"));
}

TEST_CASE("a batch norm that an export has fixed is named as in PyTorch") {
  OnnxBuilder builder;
  builder.Input("x", {2, 3, 4});
  for (const char* name : {"b1.weight", "b1.bias", "mean", "variance"}) builder.Weight(name, {3});
  ::onnx::NodeProto& node = builder.Node(
      "BatchNormalization", {"x", "b1.weight", "b1.bias", "mean", "variance"}, {"getitem"});
  builder.Output("getitem");
  builder.SayOfGraph(kSignature,
                     "p_w: PARAMETER target='b1.weight'\np_b: PARAMETER target='b1.bias'\n");
  OnnxBuilder::SayOfNode(
      node, kCall,
      Call("aten.batch_norm.default", "%x, %p_w, %p_b, %mean, %variance, True, 0.1, 1e-05, True"));
  CHECK_THAT(Trained(builder), Fails("it lacks training mode of b1 (the file has that batch norm"));
}

TEST_CASE("of parameters joined to one tensor all are frozen or none") {
  OnnxBuilder builder;
  builder.Input("x", {5, 2, 3});
  builder.Weight("W", {1, 16, 3});
  builder.Weight("R", {1, 16, 4});
  builder.Weight("B", {1, 32});
  ::onnx::NodeProto& node = builder.Node("LSTM", {"x", "W", "R", "B"}, {"y"});
  SetInt(node, "hidden_size", 4);
  OnnxBuilder::SayOfNode(
      node, kCall, Call("aten.lstm.input", "%x, [%h, %c], [%p_wi, %p_wh, %p_bi, %p_bh], True, 1"));
  builder.Output("y");
  builder.SayOfValue("W", "pkg.onnxscript.optimizer.folded_from", "['wi']");
  builder.SayOfValue("R", "pkg.onnxscript.optimizer.folded_from", "['wh']");
  builder.SayOfValue("B", "pkg.onnxscript.optimizer.folded_from", "['bi', 'bh']");
  builder.SayOfGraph(kSignature,
                     "p_wi: PARAMETER target='wi'\np_wh: PARAMETER target='wh'\n"
                     "p_bi: PARAMETER target='bi'\np_bh: PARAMETER target='bh'\n");
  CHECK_THAT(Trained(builder, {}, {"wi", "b*"}), IsOk());
  CHECK_THAT(Trained(builder, {}, {"bi"}),
             Fails("--freeze: bi is stored joined with bh as one tensor"));
}

TEST_CASE("one number added to a product is a bias of a matrix of one column alone") {
  const auto trained = [](const std::vector<int64_t>& weight, const std::vector<int64_t>& number) {
    OnnxBuilder builder;
    builder.Input("x", {2, 5, 3});
    builder.Weight("w", weight);
    builder.Weight("n", number);
    builder.Node("MatMul", {"x", "w"}, {"h"});
    builder.Node("Add", {"h", "n"}, {"y"});
    builder.Output("y");
    return Names(Trained(builder));
  };
  CHECK(trained({3, 1}, {1}) == "n w");
  CHECK(trained({3, 4}, {1}) == "w");
  CHECK(trained({3, 1}, {}) == "w");
}

TEST_CASE("a copy of a parameter in a file without a word is noted") {
  OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Weight("a", {3});
  builder.Node("Identity", {"a"}, {"b"});
  builder.Node("Mul", {"x", "a"}, {"h"});
  builder.Node("Add", {"h", "b"}, {"y"});
  builder.Output("y");
  CHECK(
      Notes(Trained(builder), "one with a in the file: b; some exports store equal tensors once"));
}

TEST_CASE("a tool that renames stored values does not rename what the signature says") {
  OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Weight("net_a", {3});
  OnnxBuilder::SayOfNode(builder.Node("Mul", {"x", "net_a"}, {"y"}), kCall,
                         Call("aten.mul.Tensor", "%x, %p_a"));
  builder.Output("y");
  builder.SayOfValue("net_a", kKind, "PARAMETER");
  builder.SayOfValue("net_a", "pkg.torch.onnx.original_node_name", "p_a");
  builder.SayOfGraph(kSignature, "p_a: PARAMETER target='a'\n");
  CHECK(Names(Trained(builder)) == "net_a");
}

// The forms of values that the file calls `names` and the program `a`, a parameter or a buffer.
std::map<std::string, StoredForm> FormsOf(const std::vector<std::string>& names,
                                          const std::string& kind = "PARAMETER",
                                          bool signature = true) {
  OnnxBuilder builder;
  builder.Input("x", {2, 3});
  std::string h = "x";
  for (const std::string& name : names) {
    builder.Weight(name, {3});
    builder.SayOfValue(name, kKind, kind);
    // Of the last one alone: the others are of another model that was joined to it.
    if (name == names.back()) builder.SayOfValue(name, "pkg.torch.onnx.original_node_name", "p_a");
    OnnxBuilder::SayOfNode(builder.Node("Mul", {h, name}, {"of_" + name}), kCall,
                           Call("aten.mul.Tensor", "%h, %p_a"));
    h = "of_" + name;
  }
  builder.Weight("w", {3});
  builder.SayOfValue("w", kKind, "PARAMETER");
  builder.Node("Mul", {h, "w"}, {"y"});
  builder.Output("y");
  if (signature)
    builder.SayOfGraph(kSignature, "p_a: " + kind + " target='a'\np_w: PARAMETER target='w'\n");
  const auto model = Trained(builder);
  REQUIRE_THAT(model, IsOk());
  return model->forms;
}

TEST_CASE("a renamed value has its name in PyTorch, where that is the value's alone") {
  const StoredForm renamed = {StoredForm::kRenamed, {"a"}, {}, "a_1"};
  CHECK(FormsOf({"a"}).empty());
  CHECK(FormsOf({"a_1"}).at("a_1") == renamed);
  CHECK(FormsOf({"a_1"}, "BUFFER").at("a_1") == renamed);
  CHECK(FormsOf({"a", "a_1"}).empty());
  CHECK(FormsOf({"a_1"}, "PARAMETER", false).empty());
}

TEST_CASE("what was folded from a renamed parameter was folded from it by its new name") {
  OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Weight("add_1", {3});
  builder.Weight("exp", {3});
  OnnxBuilder::SayOfNode(builder.Node("Mul", {"x", "exp"}, {"h"}), kCall,
                         Call("aten.mul.Tensor", "%x, %exp"));
  OnnxBuilder::SayOfNode(builder.Node("Add", {"h", "add_1"}, {"add"}), kCall,
                         Call("aten.add.Tensor", "%h, %p_add"));
  builder.Output("add");
  builder.SayOfValue("add_1", kKind, "PARAMETER");
  builder.SayOfValue("add_1", "pkg.torch.onnx.original_node_name", "p_add");
  builder.SayOfValue("exp", "pkg.onnxscript.optimizer.folded_from", "['add']");
  builder.SayOfGraph(kSignature, "p_add: PARAMETER target='add'\n");
  CHECK_THAT(Trained(builder), Fails("add_1 (as part of exp)"));
}

TEST_CASE("a parameter and its transpose, which are one, are not advised to be made one") {
  OnnxBuilder builder;
  builder.Input("x", {4, 2});
  builder.Weight("e", {2, 3});
  builder.Weight("val_1", {3, 2});
  auto& turned = *builder.proto().mutable_graph()->mutable_initializer()->rbegin();
  const auto& e = builder.proto().graph().initializer(0);
  for (int row = 0; row < 3; ++row) {
    for (const int column : {0, 1})
      turned.set_float_data(row * 2 + column, e.float_data(column * 3 + row));
  }
  OnnxBuilder::SayOfNode(builder.Node("MatMul", {"x", "e"}, {"h"}), kCall,
                         Call("aten.matmul.default", "%x, %p_e", "h"));
  OnnxBuilder::SayOfNode(builder.Node("MatMul", {"h", "val_1"}, {"y"}), kCall,
                         Call("aten.linear.default", "%h, %p_e"));
  builder.Output("y");
  builder.SayOfValue("e", kKind, "PARAMETER");
  builder.SayOfValue("val_1", "pkg.onnxscript.optimizer.folded_from", "['e']");
  builder.SayOfGraph(kSignature, "p_e: PARAMETER target='e'\n");
  const auto model = Trained(builder);
  CHECK(Names(model) == "e");
  CHECK(!Notes(model, "each is trained by itself"));
}

TEST_CASE("two values that are called the same are renamed by a tool, not by the exporter") {
  OnnxBuilder builder;
  builder.Input("x", {2, 3});
  for (const char* name : {"one_a", "two_a"}) {
    builder.Weight(name, {3});
    builder.SayOfValue(name, kKind, "PARAMETER");
    builder.SayOfValue(name, "pkg.torch.onnx.original_node_name", "p_a");
  }
  builder.Node("Mul", {"x", "one_a"}, {"h"});
  builder.Node("Mul", {"h", "two_a"}, {"y"});
  builder.Output("y");
  builder.SayOfGraph(kSignature, "p_a: PARAMETER target='a'\n");
  const auto model = Trained(builder);
  REQUIRE_THAT(model, IsOk());
  CHECK(model->forms.empty());
}

// y = x + the rows of e that are looked up, with the further arguments of the call.
absl::StatusOr<compiler::Model> WithEmbedding(const std::string& arguments,
                                              std::map<std::string, std::vector<int64_t>> rows = {},
                                              std::vector<std::string> freeze = {}) {
  OnnxBuilder builder;
  builder.Input("x", {2, 4});
  builder.Weight("e.weight", {5, 4});
  builder.Weight("w", {4});
  builder.Integers("rows", {3, 1});
  builder.SayOfValue("e.weight", kKind, "PARAMETER");
  builder.SayOfValue("w", kKind, "PARAMETER");
  builder.SayOfGraph("pkg.torch.export.ExportedProgram.graph_signature",
                     "p_e_weight: PARAMETER target='e.weight'\np_w: PARAMETER target='w'\n");
  OnnxBuilder::SayOfNode(
      builder.Node("Gather", {"e.weight", "rows"}, {"g"}), kCall,
      "%g : [num_users=1] = call_function[target=torch.ops.aten.embedding.default](args = "
      "(%p_e_weight, %rows" +
          arguments + "), kwargs = {})");
  builder.Node("Mul", {"x", "w"}, {"h"});
  builder.Node("Add", {"h", "g"}, {"y"});
  builder.Output("y");
  ImportOptions options;
  options.train = TrainOptions{"sgd", "mse", "", std::move(freeze)};
  options.train->freeze_rows = std::move(rows);
  return compiler::ImportFile(builder.Save(), options);
}

TEST_CASE("rows that are padding are named where they are trained") {
  const std::string note =
      "row 0 of e.weight is padding (padding_idx), which PyTorch does not train: --freeze "
      "e.weight=0";
  CHECK(Notes(WithEmbedding(", 0"), note));
  CHECK(Notes(WithEmbedding(", 0", {{"e.weight", {1}}}), note));
  CHECK_FALSE(Notes(WithEmbedding(", 0", {{"e.weight", {0}}}), note));
  CHECK_FALSE(Notes(WithEmbedding(", 0", {}, {"e.*"}), "padding"));
  CHECK_FALSE(Notes(WithEmbedding(""), "padding"));
  CHECK_FALSE(Notes(WithEmbedding(", -1"), "padding"));
}

TEST_CASE("gradients that are divided by how often a row occurs are refused") {
  CHECK_THAT(WithEmbedding(", -1, True"), Fails("scale_grad_by_freq"));
  CHECK_THAT(WithEmbedding(", -1, True", {}, {"e.weight"}), IsOk());
  CHECK_THAT(WithEmbedding(", -1, False"), IsOk());
}

TEST_CASE("a number that has the name of a state of the optimizer is refused") {
  const auto trained = [](const std::string& number, const std::string& optimizer) {
    OnnxBuilder builder;
    builder.Input("x", {2, 4});
    builder.Weight("w", {4});
    builder.Weight(number, {});
    builder.Node("Mul", {"x", "w"}, {"h"});
    builder.Node("Mul", {"h", number}, {"y"});
    builder.Output("y");
    ImportOptions options;
    options.train = TrainOptions{optimizer, "mse"};
    return compiler::ImportFile(builder.Save(), options);
  };
  CHECK_THAT(trained("t", "adam"),
             Fails("the model has a number 't', which is the name of what the optimizer adds"));
  CHECK_THAT(trained("t", "sgd"), IsOk());
  CHECK_THAT(trained("u", "adam"), IsOk());
}

}  // namespace
}  // namespace yuba::onnx
