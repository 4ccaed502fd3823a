// Parameters that a file does not store each by itself are put back where that is sure, and only
// there.
#include "compiler/import/parameters/restored_parameters.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "opsemantics/values/onnx_tensor.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::OnnxBuilder;
using compiler::SetInt;

constexpr char kSignature[] = "pkg.torch.export.ExportedProgram.graph_signature";
constexpr char kKind[] = "pkg.torch.export.graph_signature.InputSpec.kind";
constexpr char kCalled[] = "pkg.torch.onnx.original_node_name";
constexpr char kFoldedFrom[] = "pkg.onnxscript.optimizer.folded_from";

RestoredParameters Restored(OnnxBuilder& builder) {
  ExportRecord record = ReadExportRecord(builder.proto().graph());
  const auto restored = RestoreParameters(".", builder.proto(), record);
  REQUIRE_THAT(restored, IsOk());
  return *restored;
}

const ::onnx::TensorProto* Stored(const OnnxBuilder& builder, const std::string& name) {
  for (const ::onnx::TensorProto& tensor :
       const_cast<OnnxBuilder&>(builder).proto().graph().initializer()) {
    if (tensor.name() == name) return &tensor;
  }
  return nullptr;
}

// y = op(x, w), part of the call, with a weight of that shape.
OnnxBuilder WithoutBias(const std::string& op, const std::vector<int64_t>& weight,
                        const std::string& call) {
  OnnxBuilder builder;
  builder.Input("x", {2, 4, 5, 5});
  builder.Weight("w", weight);
  OnnxBuilder::SayOfNode(
      builder.Node(op, {"x", "w"}, {"y"}), "pkg.torch.onnx.fx_node",
      "%y : [num_users=1] = call_function[target=torch.ops." + call + ", kwargs = {})");
  builder.Output("y");
  builder.SayOfGraph(kSignature, "p_w: PARAMETER target='w'\np_b: PARAMETER target='b'\n");
  return builder;
}

// The extent of the bias that is put back; -1 where none is.
int64_t BiasOf(OnnxBuilder builder) {
  const RestoredParameters restored = Restored(builder);
  const ::onnx::TensorProto* bias = Stored(builder, "b");
  CHECK(restored.left_out.size() == (bias == nullptr ? 0 : 1));
  CHECK(builder.proto().graph().node(0).input_size() == (bias == nullptr ? 2 : 3));
  if (bias == nullptr) return -1;
  const auto values = DecodeTensor(*bias);
  REQUIRE_THAT(values, IsOk());
  for (int64_t i = 0; i < values->dims[0]; ++i) CHECK(ValueAt(*values, i) == 0);
  return values->dims[0];
}

TEST_CASE("a bias of zeros is put back with the extent that its weight says") {
  CHECK(BiasOf(WithoutBias("Conv", {6, 2, 3, 3}, "aten.conv2d.default](args = (%x, %p_w, %p_b)")) ==
        6);
  CHECK(BiasOf(WithoutBias("Gemm", {3, 7}, "aten.addmm.default](args = (%p_b, %x, %p_w)")) == 7);
  OnnxBuilder transposed =
      WithoutBias("Gemm", {3, 7}, "aten.linear.default](args = (%x, %p_w, %p_b)");
  SetInt(*transposed.proto().mutable_graph()->mutable_node(0), "transB", 1);
  CHECK(BiasOf(transposed) == 3);
  OnnxBuilder groups = WithoutBias(
      "ConvTranspose", {4, 3, 2, 2},
      "aten.convolution.default](args = (%x, %p_w, %p_b, [1, 1], [0, 0], [1, 1], True, [0, 0], 2)");
  SetInt(*groups.proto().mutable_graph()->mutable_node(0), "group", 2);
  CHECK(BiasOf(groups) == 6);
}

TEST_CASE("a bias that the call does not have, or that is another value, is not made up") {
  CHECK(BiasOf(WithoutBias("Conv", {6, 2, 3, 3}, "aten.conv2d.default](args = (%x, %p_w)")) == -1);
  CHECK(BiasOf(WithoutBias("Conv", {6, 2, 3, 3}, "aten.conv2d.default](args = (%x, %p_w, %mul)")) ==
        -1);
  CHECK(BiasOf(WithoutBias("MatMul", {3, 7}, "aten.linear.default](args = (%x, %p_w, %p_b)")) ==
        -1);
  OnnxBuilder elsewhere =
      WithoutBias("Gemm", {3, 7}, "aten.addmm.default](args = (%p_b, %x, %p_w)");
  elsewhere.Weight("b", {9});
  CHECK(Restored(elsewhere).left_out.empty());
}

// y = x + expand, which has these values and is folded from `from`.
OnnxBuilder Expanded(const std::vector<int64_t>& dims, const std::vector<float>& values,
                     const std::string& from = "['token', 'val_1']",
                     const std::string& name = "expand_2") {
  OnnxBuilder builder;
  builder.Input("x", dims);
  builder.Weight(name, dims);
  ::onnx::TensorProto& tensor = *builder.proto().mutable_graph()->mutable_initializer(0);
  tensor.clear_raw_data();
  tensor.clear_float_data();
  for (const float value : values) tensor.add_float_data(value);
  builder.Node("Add", {"x", name}, {"y"});
  builder.Output("y");
  builder.SayOfValue(name, kFoldedFrom, from);
  builder.SayOfGraph(kSignature,
                     "p_token: PARAMETER target='token'\np_other: PARAMETER target='other'\n");
  return builder;
}

TEST_CASE("a parameter repeated along the first dimension is one slice of it, repeated") {
  OnnxBuilder builder = Expanded({3, 1, 2}, {1, 2, 1, 2, 1, 2});
  CHECK(Restored(builder).repeated == std::vector<std::string>{"token"});
  const auto token = DecodeTensor(*Stored(builder, "token"));
  REQUIRE_THAT(token, IsOk());
  CHECK(token->dims == std::vector<int64_t>{1, 1, 2});
  CHECK((ValueAt(*token, 0) == 1 && ValueAt(*token, 1) == 2));
  const ::onnx::NodeProto& first = builder.proto().graph().node(0);
  CHECK(
      (first.op_type() == "Expand" && first.input(0) == "token" && first.output(0) == "expand_2"));
  CHECK(Stored(builder, "expand_2") == nullptr);
}

TEST_CASE("what may be repeated along another dimension, or is none, stays as it is") {
  const auto stays = [](OnnxBuilder builder) {
    const int nodes = builder.proto().graph().node_size();
    return Restored(builder).repeated.empty() && builder.proto().graph().node_size() == nodes;
  };
  CHECK(stays(Expanded({3, 1, 2}, {0, 0, 0, 0, 0, 0})));
  CHECK(stays(Expanded({2, 2, 2}, {1, 2, 1, 2, 1, 2, 1, 2})));
  CHECK(stays(Expanded({2, 3}, {1, 1, 1, 2, 2, 2})));
  CHECK(stays(Expanded({3, 1, 2}, {1, 2, 1, 2, 1, 3})));
  CHECK(stays(Expanded({1, 2}, {1, 2})));
  const std::vector<float> twice = {1, 2, 1, 2};
  CHECK(stays(Expanded({2, 2}, twice, "['token', 'other']")));
  CHECK(stays(Expanded({2, 2}, twice, "['token', 'neg']")));
  CHECK(stays(Expanded({2, 2}, twice, "['val_1']")));
  CHECK(stays(Expanded({2, 2}, twice, "['token']", "mul")));
}

// y = ones - x * w, of which the file has w alone.
OnnxBuilder WithConstant(const std::string& call) {
  OnnxBuilder builder;
  builder.Input("x", {2, 4});
  builder.Weight("w", {4});
  const auto say = [](::onnx::NodeProto& node, const std::string& result, const std::string& text) {
    OnnxBuilder::SayOfNode(node, "pkg.torch.onnx.fx_node",
                           "%" + result + " : [num_users=1] = call_function[target=torch.ops." +
                               text + ", kwargs = {})");
  };
  say(builder.Node("Mul", {"x", "w"}, {"mul"}), "mul", "aten.mul.Tensor](args = (%x, %p_w)");
  say(builder.Node("Sub", {"w", "mul"}, {"y"}), "y", call);
  builder.Output("y");
  builder.SayOfValue("w", "pkg.torch.export.graph_signature.InputSpec.kind", "PARAMETER");
  builder.SayOfGraph(kSignature, "p_w: PARAMETER target='w'\nx: USER_INPUT\n");
  return builder;
}

TEST_CASE("a constant that is stored once with an equal parameter is a constant again") {
  OnnxBuilder builder = WithConstant("aten.sub.Tensor](args = (%ones, %mul)");
  CHECK(Restored(builder).shared == std::vector<std::string>{"w"});
  const ::onnx::GraphProto& graph = builder.proto().graph();
  CHECK(graph.node(0).input(1) == "w");
  CHECK(graph.node(1).input(0) == "w/constant");
  CHECK(Stored(builder, "w/constant")->raw_data() == Stored(builder, "w")->raw_data());
  OnnxBuilder number = WithConstant("aten.rsub.Scalar](args = (%mul, 1.0)");
  CHECK(Restored(number).shared.size() == 1);
}

TEST_CASE("what may be another parameter, transposed, is no constant") {
  for (const char* call :
       {"aten.sub.Tensor](args = (%permute, %mul)", "aten.sub.Tensor](args = (%numpy_t_1, %mul)"}) {
    OnnxBuilder builder = WithConstant(call);
    CHECK(Restored(builder).shared.empty());
    CHECK(builder.proto().graph().node(1).input(0) == "w");
  }
}

TEST_CASE("a parameter that its call names, or that a fused node took along, stays one") {
  for (const char* call :
       {"aten.sub.Tensor](args = (%p_w, %mul)", "aten.sub.Tensor](args = (%matmul, %p_b)"}) {
    OnnxBuilder builder = WithConstant(call);
    CHECK(Restored(builder).shared.empty());
    CHECK(builder.proto().graph().node(1).input(0) == "w");
  }
}

// y = x * a + copy, where copy is an Identity of a.
OnnxBuilder Copied(const std::string& producer, const std::string& copy) {
  OnnxBuilder builder;
  builder.proto().set_producer_name(producer);
  builder.Input("x", {2, 3});
  builder.Weight("a", {3});
  builder.Node("Identity", {"a"}, {copy});
  builder.Node("Mul", {"x", "a"}, {"h"});
  builder.Node("Add", {"h", copy}, {"y"});
  builder.Output("y");
  return builder;
}

TEST_CASE("a copy in a file of PyTorch's older exporter is a parameter that is only equal") {
  OnnxBuilder builder = Copied("pytorch", "b.weight");
  CHECK(Restored(builder).merged == std::vector<std::string>{"b.weight"});
  CHECK(builder.proto().graph().node_size() == 2);
  CHECK(Stored(builder, "b.weight")->raw_data() == Stored(builder, "a")->raw_data());
  for (OnnxBuilder other :
       {Copied("tf2onnx", "b.weight"), Copied("pytorch", "/norm/Identity_output_0")}) {
    CHECK(Restored(other).merged.empty());
    CHECK(other.proto().graph().node_size() == 3);
  }
  OnnxBuilder said = Copied("pytorch", "b.weight");
  said.SayOfGraph(kSignature, "p_a: PARAMETER target='a'\n");
  CHECK(Restored(said).merged.empty());
}

// One node that reads `operands`, some of them of h = Exp(x), z = Exp(h) and the parameter w, and
// is part of a call with `arguments`; `operands` afterwards.
std::vector<std::string> OperandsAfter(const std::vector<std::string>& operands,
                                       const std::string& arguments,
                                       std::vector<std::string>* detached = nullptr) {
  OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Weight("w", {2, 3});
  builder.Weight("one", {2, 3});
  const auto say = [](::onnx::NodeProto& node, const std::string& result, const std::string& call) {
    OnnxBuilder::SayOfNode(node, "pkg.torch.onnx.fx_node",
                           "%" + result + " : [num_users=1] = call_function[target=torch.ops." +
                               call + ", kwargs = {})");
  };
  say(builder.Node("Exp", {"x"}, {"h"}), "h", "aten.exp.default](args = (%x,)");
  say(builder.Node("Exp", {"h"}, {"z"}), "z", "aten.exp.default](args = (%h,)");
  say(builder.Node("Op", operands, {"y"}), "y", "aten.op.default](args = (" + arguments + ")");
  builder.Output("y");
  builder.SayOfGraph(kSignature, "p_w: PARAMETER target='w'\nx: USER_INPUT\n");
  const RestoredParameters restored = Restored(builder);
  if (detached != nullptr) *detached = restored.detached;
  const ::onnx::GraphProto& graph = builder.proto().graph();
  for (int n = 2; n + 1 < graph.node_size(); ++n) {
    const NodeRecord record = ReadNodeRecord(graph.node(n));
    REQUIRE(record.call.has_value());
    CHECK(record.call->target == "aten.detach.default");
    CHECK(graph.node(n).op_type() == "Identity");
  }
  const ::onnx::NodeProto& last = graph.node(graph.node_size() - 1);
  return {last.input().begin(), last.input().end()};
}

TEST_CASE("what is detached is what the call says, in the order of its arguments") {
  using Names = std::vector<std::string>;
  CHECK(OperandsAfter({"h"}, "%h,") == Names{"h"});
  CHECK(OperandsAfter({"h"}, "%detach,") == Names{"detach"});
  CHECK(OperandsAfter({"h", "h"}, "%h, %detach_1") == Names{"h", "detach_1"});
  CHECK(OperandsAfter({"h", "h"}, "%detach, %h") == Names{"detach", "h"});
  CHECK(OperandsAfter({"h", "z"}, "[%detach, %z], 1") == Names{"detach", "z"});
  CHECK(OperandsAfter({"h", "z"}, "%detach, %detach_1") == Names{"detach", "detach_1"});
  CHECK(OperandsAfter({"x", "w"}, "%x, %detach") == Names{"x", "detach"});
  CHECK(OperandsAfter({"one", "h"}, "%detach,") == Names{"one", "detach"});
  // One node for two equal ones: linear_1 was h too.
  CHECK(OperandsAfter({"h", "h"}, "%detach, %linear_1") == Names{"detach", "h"});
  CHECK(OperandsAfter({"h"}, "%clone,") == Names{"h"});
}

TEST_CASE("where a call does not say which operand is detached, training is refused") {
  std::vector<std::string> detached;
  CHECK(OperandsAfter({"h", "z"}, "%detach,", &detached) == std::vector<std::string>{"h", "z"});
  CHECK(detached == std::vector<std::string>{"detach"});
  RestoredParameters restored;
  CHECK_THAT(CheckDetached(restored), IsOk());
  restored.detached = detached;
  CHECK_THAT(CheckDetached(restored), Fails("no gradient goes through detach"));
}

// y = op2(op1(x, a), b), where the calls name `first` and `second` besides; a and b are stored, of
// these values, and a is folded from the parameter p.
std::vector<std::string> Lost(const std::string& a, const std::string& b, const std::string& first,
                              const std::string& second, const std::vector<float>& values) {
  OnnxBuilder builder;
  builder.Input("x", {2, 2});
  for (const std::string& name : std::set<std::string>{a, b}) {
    builder.Weight(name, {2, 2});
    ::onnx::GraphProto& graph = *builder.proto().mutable_graph();
    ::onnx::TensorProto& tensor = *graph.mutable_initializer(graph.initializer_size() - 1);
    tensor.clear_float_data();
    for (const float value : values) tensor.add_float_data(value);
    if (name == "p" || name == "q") {
      builder.SayOfValue(name, kKind, "PARAMETER");
      builder.SayOfValue(name, kCalled, "p_" + name);
    }
  }
  if (a != "p") builder.SayOfValue(a, kFoldedFrom, "['p']");
  const auto say = [](::onnx::NodeProto& node, const std::string& result,
                      const std::string& arguments) {
    OnnxBuilder::SayOfNode(node, "pkg.torch.onnx.fx_node",
                           "%" + result +
                               " : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor]"
                               "(args = (" +
                               arguments + "), kwargs = {})");
  };
  say(builder.Node("Add", {"x", a}, {"add"}), "add", "%x, %" + first);
  say(builder.Node("Add", {"add", b}, {"y"}), "y", "%add, %" + second);
  builder.Output("y");
  builder.SayOfGraph(kSignature,
                     "p_p: PARAMETER target='p'\np_q: PARAMETER target='q'\nx: USER_INPUT\n");
  std::vector<std::string> lost;
  for (const auto& [name, why] : Restored(builder).lost) lost.push_back(name + " (" + why + ")");
  return lost;
}

TEST_CASE("a parameter is lost where what was computed of it is stored as an equal tensor") {
  using Names = std::vector<std::string>;
  const std::vector<float> zeros(4, 0), random = {0.5f, 1, -2, 3};
  // Each reads its own.
  CHECK(Lost("view", "q", "view", "p_q", zeros).empty());
  CHECK(Lost("view", "view", "view", "view_1", zeros) ==
        Names{"q (no node names it, and view_1 is stored as view)"});
  // No parameter begins as such values by chance.
  CHECK(Lost("view", "view", "view", "view_1", random).empty());
  CHECK(Lost("view", "view", "view", "zeros", zeros) ==
        Names{"p (perhaps zeros is stored as view)"});
  CHECK(Lost("p", "p", "p_p", "permute", zeros) ==
        Names{"p (perhaps permute is stored as p)",
              "q (no node names it, and permute is stored as p)"});
  // A constant that is told from the parameter is split from it.
  CHECK(Lost("p", "p", "p_p", "ones", zeros).empty());
  // A copy of the parameter, and of two copies one may be a constant's.
  CHECK(Lost("q", "p", "p_q", "clone", zeros).empty());
  CHECK(Lost("p", "q", "p_p", "p_q", zeros).empty());
  CHECK(
      Lost("p", "p", "clone", "clone_1", zeros) ==
      Names{"p (perhaps clone is stored as p)", "q (no node names it, and clone is stored as p)"});
}

}  // namespace
}  // namespace yuba::onnx
