// The table of the versions of ONNX's operators, and nodes that say more than their rows were read
// for: an attribute, a version, an operand or an output that nobody reads is an error.
#include "compiler/import/translate/versions.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <set>

#include "compiler/import/translate/table.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"

namespace yuba::onnx {
namespace {

using Catch::Matchers::Contains;

const OperatorVersion& Version(const std::string& op_type, int64_t opset) {
  const std::vector<OperatorVersion>* versions = VersionsOf(op_type);
  REQUIRE(versions != nullptr);
  return VersionAt(*versions, opset);
}

// Names, kinds and defaults: "axis:i=0 keepdims:i=1".
std::string AttributesOf(const std::string& op_type, int64_t opset) {
  std::string text;
  for (const auto& [name, attribute] : Version(op_type, opset).attributes) {
    text += (text.empty() ? "" : " ") + name + ":" + attribute.kind;
    if (attribute.fallback.has_value()) text += "=" + *attribute.fallback;
  }
  return text;
}

std::vector<int64_t> NumbersOf(const std::string& op_type, bool types_only) {
  std::vector<int64_t> numbers;
  for (const OperatorVersion& version : *VersionsOf(op_type)) {
    if (version.types_only == types_only) numbers.push_back(version.since);
  }
  return numbers;
}

// By the text of ONNX's Operators.md and Changelog.md.
TEST_CASE("versions that were looked up by hand") {
  CHECK(AttributesOf("Softmax", 12) == "axis:i=1");
  CHECK(AttributesOf("Softmax", 13) == "axis:i=-1");
  CHECK(AttributesOf("ReduceMean", 17) == "axes:I keepdims:i=1");
  CHECK(AttributesOf("ReduceMean", 18) == "keepdims:i=1 noop_with_empty_axes:i=0");
  CHECK(AttributesOf("ReduceSum", 13) == "keepdims:i=1 noop_with_empty_axes:i=0");
  CHECK(AttributesOf("Clip", 10) == "max:f=3.4028235e+38 min:f=-3.4028235e+38");
  CHECK(AttributesOf("Clip", 11).empty());
  CHECK(AttributesOf("Split", 12) == "axis:i=0 split:I");
  CHECK(AttributesOf("Split", 17) == "axis:i=0");
  CHECK(AttributesOf("Split", 18) == "axis:i=0 num_outputs:i");
  CHECK(AttributesOf("Gelu", 20) == "approximate:s=none");
  CHECK(AttributesOf("Add", 6) == "axis:i broadcast:i=0");
  CHECK(AttributesOf("Add", 7).empty());
  CHECK(AttributesOf("Range", 26).empty());
  CHECK(AttributesOf("Range", 27) == "stash_type:i=1");
  CHECK(AttributesOf("Loop", 28) == "body:g");
  CHECK_THAT(AttributesOf("Attention", 25), Contains("left_window_size:i=-1"));
  CHECK_THAT(AttributesOf("Attention", 24), !Contains("window"));
  CHECK(NumbersOf("Mod", false) == std::vector<int64_t>{10, 13, 28});
  CHECK(NumbersOf("Cos", true) == std::vector<int64_t>{22});
  CHECK(NumbersOf("Reshape", false) == std::vector<int64_t>{5, 14});
  CHECK(MeaningOf(*VersionsOf("Reshape"), 25) == 14);
  CHECK(Version("Clip", 11).least_inputs == 1);
  CHECK(Version("Clip", 11).most_inputs == 3);
  CHECK(Version("Concat", 13).most_inputs == std::numeric_limits<int>::max());
  CHECK(Version("Attention", 24).most_outputs == 4);
  CHECK(Version("Dropout", 13).least_outputs == 1);
  CHECK(VersionsOf("Frobnicate") == nullptr);
}

TEST_CASE("the table ends with the newest opset that is known") {
  int64_t newest = 0;
  for (const char* op_type : {"Mod", "Range", "Cast", "SpaceToDepth"})
    newest = std::max(newest, VersionsOf(op_type)->back().since);
  CHECK(newest == kNewestOpset);
}

// A row whose operator has a newer version must be read for it, and its number raised.
TEST_CASE("every row was read for the newest version, and names attributes that there are") {
  for (const std::string& name : MappedOperators()) {
    INFO(name);
    const OperatorRow& row = *FindRow(name);
    const std::vector<OperatorVersion>* versions = VersionsOf(name);
    REQUIRE(versions != nullptr);
    CHECK(MeaningOf(*versions, kNewestOpset) == row.newest);
    std::map<std::string, VersionAttribute> all;
    for (const OperatorVersion& version : *versions)
      all.insert(version.attributes.begin(), version.attributes.end());
    for (const std::string& read : row.reads) CHECK(all.count(read) == 1);
    for (const AttributeRow& read : row.attributes) {
      REQUIRE(all.count(read.onnx) == 1);
      CHECK(std::stof(all[read.onnx].fallback.value_or("none")) == static_cast<float>(read.absent));
    }
  }
}

std::string MessageOf(const compiler::OnnxBuilder& builder, const ImportOptions& options = {}) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  return model.ok() ? "imported" : std::string(model.status().message());
}

// y = op_type(x, rest) of x [2, 3], in `opset`, changed by `change`.
std::string MessageOfNode(const std::string& op_type, int64_t opset,
                          const std::function<void(::onnx::NodeProto&)>& change,
                          const std::vector<std::string>& inputs = {"x"}) {
  compiler::OnnxBuilder builder(opset);
  builder.Input("x", {2, 3});
  builder.Weight("w", {3});
  builder.Integers("axes", {1});
  change(builder.Node(op_type, inputs, {"y"}));
  builder.Output("y");
  return MessageOf(builder);
}

TEST_CASE("attributes that nobody knows") {
  const auto temperature = [](auto& node) { compiler::SetFloat(node, "temperature", 2); };
  CHECK_THAT(MessageOfNode("Softmax", 13, temperature),
             Contains("node 'node_y' (Softmax), opset 13: attribute 'temperature' is unknown: no "
                      "version of Softmax has it (Softmax-13 has axis)") &&
                 Contains("--operators"));
  const auto axes = [](auto& node) { compiler::SetInts(node, "axes", {1}); };
  CHECK(MessageOfNode("ReduceMean", 17, axes) == "imported");
  CHECK_THAT(MessageOfNode("ReduceMean", 18, axes),
             Contains("attribute 'axes' is one of ReduceMean-1 to 13, and opset 18 has "
                      "ReduceMean-18, where it means nothing"));
  CHECK(MessageOfNode("ReduceMean", 18, [](auto&) {}, {"x", "axes"}) == "imported");
  const auto least = [](auto& node) { compiler::SetFloat(node, "min", 0); };
  CHECK(MessageOfNode("Clip", 10, least) == "imported");
  CHECK_THAT(MessageOfNode("Clip", 13, least), Contains("attribute 'min' is one of Clip-6, and"));
  CHECK_THAT(MessageOfNode("Relu", 13, least), Contains("(Relu-13 has none)"));
}

TEST_CASE("attributes that no translation reads must be at their defaults") {
  const auto window = [](int64_t size) {
    compiler::OnnxBuilder builder(25);
    for (const char* name : {"q", "k", "v"}) builder.Input(name, {1, 2, 4, 8});
    compiler::SetInt(builder.Node("Attention", {"q", "k", "v"}, {"y"}), "left_window_size", size);
    builder.Output("y");
    return MessageOf(builder);
  };
  CHECK(window(-1) == "imported");
  CHECK_THAT(window(1), Contains("attribute 'left_window_size' of Attention-25 is not supported, "
                                 "but at its default, -1"));
}

TEST_CASE("attributes of another kind, or given twice") {
  const auto twice = [](auto& node) {
    compiler::SetInt(node, "axis", 0);
    compiler::SetInt(node, "axis", 1);
  };
  CHECK_THAT(MessageOfNode("Softmax", 13, twice), Contains("attribute 'axis' is given twice"));
  const auto list = [](auto& node) { compiler::SetInts(node, "axis", {0}); };
  CHECK_THAT(MessageOfNode("Softmax", 13, list), Contains("attribute 'axis' must be an integer"));
  // Writers that leave out zeros leave the type.
  const auto zero = [](auto& node) {
    compiler::SetInt(node, "axis", 0);
    node.mutable_attribute(0)->clear_i();
    node.mutable_attribute(0)->set_type(::onnx::AttributeProto::INT);
  };
  CHECK(MessageOfNode("Softmax", 13, zero) == "imported");
}

TEST_CASE("operands and outputs that the version does not have") {
  const auto none = [](auto&) {};
  CHECK_THAT(MessageOfNode("Relu", 17, none, {"x", "w"}),
             Contains("it has 2 operands, and Relu-14 has at most 1"));
  CHECK(MessageOfNode("Relu", 17, none, {"x", ""}) == "imported");
  CHECK_THAT(MessageOfNode("Add", 17, none), Contains("operand 1 is missing"));
  // A third operand came with version 11.
  CHECK_THAT(MessageOfNode("Clip", 10, none, {"x", "w"}),
             Contains("it has 2 operands, and Clip-6 has at most 1"));
  CHECK_THAT(MessageOfNode("Relu", 17, [](auto& node) { node.add_output("z"); }),
             Contains("it has 2 outputs, and Relu-14 has at most 1"));
}

TEST_CASE("the remainder of floats: toward zero alone, and from version 28 on rounded down too") {
  const auto none = [](auto&) {};
  const auto fmod = [](auto& node) { compiler::SetInt(node, "fmod", 1); };
  for (const int64_t opset : {10, 13, 27}) {
    CHECK_THAT(MessageOfNode("Mod", opset, none, {"x", "w"}),
               Contains("its operands are floats, for which its version has fmod = 1 alone"));
    CHECK(MessageOfNode("Mod", opset, fmod, {"x", "w"}) == "imported");
  }
  CHECK(MessageOfNode("Mod", 28, none, {"x", "w"}) == "imported");
}

TEST_CASE("an opset above the table is read as the newest in it, with --strict it is an error") {
  compiler::OnnxBuilder builder(kNewestOpset + 1);
  builder.Input("x", {2, 3});
  builder.Node("Softmax", {"x"}, {"y"});
  builder.Output("y");
  CHECK(MessageOf(builder) == "imported");
  ImportOptions strict;
  strict.strict = true;
  CHECK_THAT(MessageOf(builder, strict), Contains("--strict: the model is of opset 29, and what "
                                                  "changed behind 28 is not known"));
  compiler::SetFloat(*builder.proto().mutable_graph()->mutable_node(0), "temperature", 2);
  CHECK_THAT(MessageOf(builder), Contains("attribute 'temperature' is unknown"));
  builder.proto().mutable_opset_import(0)->set_version(kNewestOpset);
  builder.proto().mutable_graph()->mutable_node(0)->clear_attribute();
  CHECK(MessageOf(builder, strict) == "imported");
}

TEST_CASE("an opset below the table is read where no operator of the model changed since") {
  const auto none = [](auto&) {};
  CHECK(MessageOfNode("Softplus", 1, none) == "imported");
  CHECK(MessageOfNode("Softmax", 5, none) == "imported");
  CHECK_THAT(
      MessageOfNode("Relu", 5, none),
      Contains("the model is of opset 5, and the oldest Relu that is known is that of opset 6: "
               "convert it (onnx.version_converter)"));
  // PRelu came with opset 1 and changed with 6; Sin came with 7.
  CHECK_THAT(MessageOfNode("PRelu", 1, none, {"x", "w"}), Contains("the oldest PRelu that"));
  CHECK_THAT(MessageOfNode("Sin", 4, none), Contains("is that of opset 7"));
}

TEST_CASE("an operator that came with a later opset is none of the model's") {
  const auto none = [](auto&) {};
  CHECK_THAT(MessageOfNode("Gelu", 19, none),
             Contains("node 'node_y' (Gelu), opset 19: the model is of opset 19, and Gelu came "
                      "with opset 20: the model was made for another opset than it says"));
  CHECK(MessageOfNode("Gelu", 20, none) == "imported");
  CHECK_THAT(MessageOfNode("LayerNormalization", 16, none, {"x", "w"}),
             Contains("LayerNormalization came with opset 17"));
  const auto bools = [](int64_t opset) {
    compiler::OnnxBuilder builder(opset);
    builder.Input("x", {2, 3}, ::onnx::TensorProto::BOOL);
    builder.Integers("axes", {1});
    builder.Node("ReduceMax", {"x", "axes"}, {"y"});
    builder.Output("y");
    return MessageOf(builder);
  };
  CHECK_THAT(bools(18),
             Contains("its operand is of bools, which ReduceMax takes from opset 20 on"));
  CHECK(bools(20) == "imported");
}

TEST_CASE("operands of other shapes, before broadcasting was NumPy's") {
  const auto message = [](const std::string& op_type, int64_t opset, const std::string& second,
                          int64_t broadcast, int64_t axis) {
    compiler::OnnxBuilder builder(opset);
    builder.Input("x", {2, 3});
    builder.Input("same", {2, 3});
    builder.Input("rows", {2});
    builder.Input("columns", {3});
    builder.Input("one", {1});
    builder.Input("column", {2, 1});
    builder.Input("larger", {4, 2, 3});
    ::onnx::NodeProto& node = builder.Node(op_type, {"x", second}, {"y"});
    if (broadcast >= 0) compiler::SetInt(node, "broadcast", broadcast);
    if (axis >= 0) compiler::SetInt(node, "axis", axis);
    builder.Output("y");
    return MessageOf(builder);
  };
  for (const char* op_type : {"Add", "Pow"}) {
    INFO(op_type);
    CHECK(message(op_type, 6, "same", -1, -1) == "imported");
    CHECK(message(op_type, 7, "columns", -1, -1) == "imported");
    CHECK_THAT(message(op_type, 6, "columns", -1, -1),
               Contains("its operands [2, 3] and [3] differ, and its version takes others of one "
                        "shape alone where it has no `broadcast` (opset 7 has NumPy's"));
    if (op_type == std::string("Pow")) continue;  // whose `broadcast` is not read
    CHECK_THAT(message(op_type, 6, "columns", 0, 1), Contains("differ"));
    CHECK(message(op_type, 6, "columns", 1, -1) == "imported");
    CHECK(message(op_type, 6, "rows", 1, 0) == "imported");
    CHECK(message(op_type, 6, "one", 1, -1) == "imported");
    CHECK_THAT(message(op_type, 6, "rows", 1, -1),
               Contains("its operand [2] is no part of [2, 3] at its end"));
    CHECK_THAT(message(op_type, 6, "columns", 1, 0),
               Contains("[3] is no part of [2, 3] from dimension 0 on"));
    CHECK(message(op_type, 6, "column", 1, 0) == "imported");
    CHECK_THAT(message(op_type, 6, "larger", 1, -1), Contains("is no part of"));
  }
  for (const char* op_type : {"Sum", "Max", "Mean"}) {
    INFO(op_type);
    CHECK(message(op_type, 7, "same", -1, -1) == "imported");
    CHECK_THAT(message(op_type, 7, "columns", -1, -1), Contains("(opset 8 has NumPy's"));
    CHECK(message(op_type, 8, "columns", -1, -1) == "imported");
  }
  const auto gemm = [](int64_t opset, int64_t broadcast) {
    compiler::OnnxBuilder builder(opset);
    builder.Input("x", {2, 3});
    builder.Weight("w", {3, 4});
    builder.Weight("b", {4});
    ::onnx::NodeProto& node = builder.Node("Gemm", {"x", "w", "b"}, {"y"});
    if (broadcast >= 0) compiler::SetInt(node, "broadcast", broadcast);
    builder.Output("y");
    return MessageOf(builder);
  };
  CHECK_THAT(gemm(6, -1), Contains("its third operand [4] has not the result's shape"));
  CHECK(gemm(6, 1) == "imported");
  CHECK(gemm(7, -1) == "imported");
}

TEST_CASE("pads that are both given and automatic") {
  const auto message = [](const std::string& op_type, const std::string& mode, bool pads) {
    compiler::OnnxBuilder builder(17);
    builder.Input("x", {1, 2, 8});
    builder.Weight("w", {2, 2, 3});
    const bool pool = op_type == "MaxPool" || op_type == "AveragePool";
    ::onnx::NodeProto& node = builder.Node(
        op_type, pool ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "w"}, {"y"});
    if (pool) compiler::SetInts(node, "kernel_shape", {3});
    if (pads) compiler::SetInts(node, "pads", {1, 0});
    ::onnx::AttributeProto* attribute = node.add_attribute();
    attribute->set_name("auto_pad");
    attribute->set_type(::onnx::AttributeProto::STRING);
    attribute->set_s(mode);
    builder.Output("y");
    return MessageOf(builder);
  };
  for (const char* op_type : {"Conv", "ConvTranspose", "MaxPool", "AveragePool"}) {
    INFO(op_type);
    CHECK(message(op_type, "SAME_UPPER", false) == "imported");
    CHECK(message(op_type, "NOTSET", true) == "imported");
    CHECK_THAT(message(op_type, "VALID", true),
               Contains("it has `pads` and auto_pad 'VALID', of which one alone may be there"));
  }
}

TEST_CASE("attributes whose text has no meaning, and what only older versions say") {
  const auto text = [](const char* name, const char* value) {
    return [=](::onnx::NodeProto& node) {
      ::onnx::AttributeProto* attribute = node.add_attribute();
      attribute->set_name(name);
      attribute->set_type(::onnx::AttributeProto::STRING);
      attribute->set_s(value);
    };
  };
  CHECK_THAT(MessageOfNode("Gelu", 20, text("approximate", "cubic")),
             Contains("attribute 'approximate' is 'cubic', neither none nor tanh"));
  CHECK_THAT(MessageOfNode("Dropout", 6, [](auto&) {}), Contains("is_test = 0"));
  CHECK(MessageOfNode("Dropout", 6, [](auto& node) { compiler::SetInt(node, "is_test", 1); }) ==
        "imported");
  const auto stash = [](int64_t type) {
    return MessageOfNode("LayerNormalization", 17,
                         [&](auto& node) { compiler::SetInt(node, "stash_type", type); },
                         {"x", "w"});
  };
  CHECK(stash(1) == "imported");
  CHECK(stash(16) == "imported");
  CHECK_THAT(stash(7), Contains("attribute 'stash_type' must be the number of a float type"));
}

}  // namespace
}  // namespace yuba::onnx
