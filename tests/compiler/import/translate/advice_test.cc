// What the error about operators that are not supported tells the user to do.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using Catch::Matchers::Contains;
using compiler::OnnxBuilder;

std::string ErrorOf(const OnnxBuilder& builder) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  REQUIRE_THAT(model, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(model.status().message());
}

// x -> Relu -> h -> `op` -> y.
OnnxBuilder Behind(const std::string& op, const std::string& domain = "") {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Node("Relu", {"x"}, {"h"});
  builder.Node(op, {"h"}, {"y"}).set_domain(domain);
  builder.Output("y");
  return builder;
}

const char kDescribe[] = "Describe it in a .tdl file under the operator's name";
const char kFlag[] = "To plan what comes before: --to-tensors h";

TEST_CASE("an operator that can be described is to be described") {
  CHECK_THAT(ErrorOf(Behind("Det")), Contains(kDescribe) && Contains("opsemantics/README.md") &&
                                         Contains("docs/how_to.md") && Contains(kFlag));
  CHECK_THAT(ErrorOf(Behind("mine", "example.org")), Contains(kDescribe) && Contains(kFlag));
}

TEST_CASE("an operator that no description can say has advice of its own") {
  const auto advice = [](const std::string& op, const std::string& text) {
    CHECK_THAT(ErrorOf(Behind(op)), !Contains(".tdl") && Contains(text) && Contains(kFlag));
  };
  advice("NonZero", "how large the result is depends on values");
  advice("Unique", "how large the result is depends on values");
  advice("If", "whether and how often the nodes inside it run");
  advice("StringNormalizer", "are no tensors");
  advice("Gradient", "--train makes a training step");
}

TEST_CASE("operators that ONNX Runtime puts in are taken out by its level basic") {
  CHECK_THAT(ErrorOf(Behind("BiasGelu", "com.microsoft")), Contains("com.microsoft.BiasGelu: ") &&
                                                               Contains("ORT_ENABLE_BASIC") &&
                                                               Contains(".tdl") && Contains(kFlag));
}

TEST_CASE("operators that quantisers put in are not sent to a level of optimisation") {
  for (const char* op : {"MatMulNBits", "QGemm", "QLinearAdd"}) {
    CHECK_THAT(ErrorOf(Behind(op, "com.microsoft")),
               Contains("QuantFormat.QDQ") && !Contains("ORT_ENABLE_BASIC") && Contains(kFlag));
  }
}

// `count` nodes of an operator that nobody has described, each of a weight and what is before it.
OnnxBuilder Undescribed(int count) {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  std::string before = "x";
  for (int i = 0; i < count; ++i) {
    const std::string weight = "w" + std::to_string(i), after = "y" + std::to_string(i);
    builder.Weight(weight, {4, 6});
    builder.Node("unpack", {weight, before}, {after}).set_domain("example.org");
    before = after;
  }
  builder.Output(before);
  return builder;
}

TEST_CASE("where a type is not supported either, no description is said to help") {
  OnnxBuilder builder = Undescribed(1);
  CHECK_THAT(ErrorOf(builder), !Contains("No description helps"));
  builder.proto().mutable_graph()->mutable_initializer(0)->set_data_type(22);
  CHECK_THAT(ErrorOf(builder),
             Contains("No description helps where a node reads 'w0': element type INT4 is not"));
}

TEST_CASE("of many nodes that are not supported the first are listed") {
  const std::string message = ErrorOf(Undescribed(30));
  CHECK_THAT(message, Contains("30 nodes have an operator") && Contains("and 22 more nodes"));
  CHECK(std::count(message.begin(), message.end(), '\n') == 10);
}

TEST_CASE("where only some nodes of an operator can be folded, it says how many") {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Node("Relu", {"x"}, {"h"});
  builder.Node("Shape", {"h"}, {"shape"});
  builder.Node("Det", {"shape"}, {"a"});
  builder.Node("Det", {"h"}, {"b"});
  builder.Node("Add", {"a", "b"}, {"y"});
  builder.Output("y");
  CHECK_THAT(ErrorOf(builder),
             Contains("Det (1 of 2): here it is computed from constants") && Contains(kDescribe));
}

TEST_CASE("texts among the attributes are part of the name to describe") {
  OnnxBuilder builder = Behind("FusedGemm", "com.microsoft");
  ::onnx::AttributeProto* attribute =
      builder.proto().mutable_graph()->mutable_node(1)->add_attribute();
  attribute->set_name("activation");
  attribute->set_type(::onnx::AttributeProto::STRING);
  attribute->set_s("Relu");
  CHECK_THAT(ErrorOf(builder), Contains("com.microsoft.FusedGemm (as FusedGemm_Relu): "));
}

TEST_CASE("what constants and shapes alone decide is to be folded") {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Node("Relu", {"x"}, {"h"});
  builder.Node("Shape", {"h"}, {"shape"});
  builder.Node("NonZero", {"shape"}, {"places"});
  builder.Node("Reshape", {"h", "places"}, {"y"});
  builder.Output("y");
  const std::string message = ErrorOf(builder);
  CHECK_THAT(message, Contains("NonZero: here it is computed from constants and shapes alone") &&
                          Contains("onnxsim") && !Contains("how large the result is"));
}

TEST_CASE("what is computed from a weight can be folded, and is not trained then") {
  const auto message = [](int type) {
    OnnxBuilder builder;
    builder.Input("x", {4, 6});
    builder.Weight("w", {4, 6});
    builder.proto().mutable_graph()->mutable_initializer(0)->set_data_type(type);
    builder.Node("Abs", {"w"}, {"h"});
    builder.Node("Det", {"h"}, {"d"});
    builder.Node("Mul", {"x", "d"}, {"y"});
    builder.Output("y");
    return ErrorOf(builder);
  };
  CHECK_THAT(message(::onnx::TensorProto::FLOAT),
             Contains("level basic, writes such a model, in which 'w' is not trained") &&
                 Contains(kDescribe));
  CHECK_THAT(message(::onnx::TensorProto::INT32), Contains("level basic, writes such a model") &&
                                                      !Contains("is not trained") &&
                                                      !Contains(kDescribe));
}

TEST_CASE("tensors that nodes inside of a node read are ends, and outputs that need no such node") {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Input("flag", {}, ::onnx::TensorProto::BOOL);
  builder.Node("Relu", {"x"}, {"h"});
  builder.Node("Exp", {"x"}, {"other"});
  ::onnx::NodeProto& node = builder.Node("If", {"flag"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    ::onnx::AttributeProto* attribute = node.add_attribute();
    attribute->set_name(branch);
    attribute->set_type(::onnx::AttributeProto::GRAPH);
    ::onnx::NodeProto* inner = attribute->mutable_g()->add_node();
    inner->set_op_type("Neg");
    inner->add_input("h");
    inner->add_output("inner");
    attribute->mutable_g()->add_output()->set_name("inner");
  }
  builder.Output("y");
  builder.Output("other");
  CHECK_THAT(ErrorOf(builder), Contains("If: ") && Contains("--to-tensors h,other"));
}

}  // namespace
}  // namespace yuba::onnx
