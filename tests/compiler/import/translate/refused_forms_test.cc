// Operands and attributes of attention, norms, rotary embeddings, caches and recurrent networks
// that do not fit each other: the error names the node and what is wrong.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"

namespace yuba::onnx {
namespace {

using Catch::Matchers::Contains;
using compiler::OnnxBuilder;
using compiler::SetFloat;
using compiler::SetInt;
using Operand = std::vector<int64_t>;  // dims; {-1}: absent

void SetText(::onnx::NodeProto& node, const std::string& name, const std::string& value) {
  ::onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::STRING);
  attribute->set_s(value);
}

// What is said of a node of `op` on inputs of floats, but those named in `integers`, of i64.
template <typename Change>
std::string MessageOf(const std::string& op, const std::vector<Operand>& operands,
                      const std::vector<size_t>& integers, const Change& change) {
  OnnxBuilder builder(24);
  std::vector<std::string> names;
  for (size_t i = 0; i < operands.size(); ++i) {
    names.push_back(operands[i] == Operand{-1} ? "" : "x" + std::to_string(i));
    if (names.back().empty()) continue;
    bool integer = false;
    for (const size_t k : integers) integer |= k == i;
    builder.Input(names.back(), operands[i],
                  integer ? ::onnx::TensorProto::INT64 : ::onnx::TensorProto::FLOAT);
  }
  change(builder.Node(op, names, {"y"}));
  builder.Output("y");
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  return model.ok() ? "imported" : std::string(model.status().message());
}

std::string MessageOf(const std::string& op, const std::vector<Operand>& operands,
                      const std::vector<size_t>& integers = {}) {
  return MessageOf(op, operands, integers, [](::onnx::NodeProto&) {});
}

TEST_CASE("splits that another version has, or none") {
  const auto split = [](int64_t opset, int outputs, bool sizes, bool count) {
    OnnxBuilder builder(opset);
    builder.Input("x", {2, 7});
    builder.Integers("sizes", {0, 7});
    std::vector<std::string> names;
    for (int o = 0; o < outputs; ++o) names.push_back("y" + std::to_string(o));
    ::onnx::NodeProto& node = builder.Node(
        "Split", sizes ? std::vector<std::string>{"x", "sizes"} : std::vector<std::string>{"x"},
        names);
    SetInt(node, "axis", 1);
    if (count) SetInt(node, "num_outputs", outputs);
    for (const std::string& name : names) builder.Output(name);
    const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
    return model.ok() ? "imported" : std::string(model.status().message());
  };
  CHECK(split(18, 3, false, true) == "imported");
  CHECK(split(18, 5, false, true) == "imported");  // parts of 2, 2, 2, 1 and 0 elements
  CHECK(split(13, 7, false, false) == "imported");
  CHECK(split(13, 2, true, false) == "imported");
  CHECK_THAT(split(13, 3, false, false), Contains("its 3 parts of 7 elements are not equal"));
  CHECK_THAT(split(18, 2, true, true), Contains("`split` and `num_outputs`, of which one"));
}

TEST_CASE("attention whose operands do not fit") {
  const Operand x = {2, 2, 4, 3}, none = {-1};
  CHECK(MessageOf("Attention", {x, x, x}) == "imported");
  CHECK(MessageOf("Attention", {x, x, x, {4, 3}}) == "imported");
  CHECK_THAT(
      MessageOf("Attention", {x, x, x, {3, 4}}),
      Contains("node_y") && Contains("its mask [3, 4] does not fit its scores [2, 2, 4, 4]"));
  CHECK_THAT(MessageOf("Attention", {x, x, x, {4, 4}}, {3}), Contains("bools or floats"));
  CHECK_THAT(MessageOf("Attention", {x, x, x, none, none, none, {3}}, {6}),
             Contains("its lengths [3] must be one for each of 2"));
  CHECK_THAT(MessageOf("Attention", {x, x, x, none, {2, 2, 1, 3}}),
             Contains("past keys or past values alone"));
  CHECK_THAT(MessageOf("Attention", {x, x, x, none, {2, 2, 1, 3}, {2, 2, 1, 3}, {2}}, {6}),
             Contains("exclude each other"));
  CHECK_THAT(MessageOf("Attention", {x, x, x}, {},
                       [](::onnx::NodeProto& n) { SetInt(n, "softmax_precision", 7); }),
             Contains("'softmax_precision' must be the number of a float type"));
  CHECK_THAT(MessageOf("Attention", {x, x, x}, {},
                       [](::onnx::NodeProto& n) { SetFloat(n, "softcap", -1); }),
             Contains("its softcap is negative"));
  CHECK_THAT(MessageOf("Attention", {x, x, x}, {},
                       [](::onnx::NodeProto& n) {
                         n.add_output("");
                         n.add_output("");
                         n.add_output("scores");
                         SetInt(n, "qk_matmul_output_mode", 4);
                       }),
             Contains("qk_matmul_output_mode 4 is unknown"));
}

TEST_CASE("rotary embeddings whose operands do not fit") {
  const Operand x = {2, 3, 4, 6};
  CHECK(MessageOf("RotaryEmbedding", {x, {2, 4, 3}, {2, 4, 3}}) == "imported");
  CHECK_THAT(MessageOf("RotaryEmbedding", {x, {2, 4, 2}, {2, 4, 3}}),
             Contains("node_y") && Contains("[2, 4, 3]") && Contains("[2, 4, 2]"));
  CHECK_THAT(MessageOf("RotaryEmbedding", {x, {9, 3}, {9, 3}}), Contains("no positions"));
  CHECK_THAT(MessageOf("RotaryEmbedding", {x, {2, 4, 3}, {2, 4, 3}, {2, 4}}, {3}),
             Contains("must have two dimensions"));
  CHECK_THAT(MessageOf("RotaryEmbedding", {x, {2, 4, 3}, {2, 4, 3}}, {},
                       [](::onnx::NodeProto& n) { SetInt(n, "rotary_embedding_dim", 5); }),
             Contains("it turns 5 of the 6 elements"));
  CHECK_THAT(MessageOf("RotaryEmbedding", {{2, 4, 18}, {2, 4, 3}, {2, 4, 3}}),
             Contains("does not consist of 0 heads"));
}

TEST_CASE("norms whose scale does not fit") {
  CHECK_THAT(MessageOf("LayerNormalization", {{2, 3}, {2}}),
             Contains("node_y") && Contains("must broadcast to its operand [2, 3]") &&
                 Contains("[2] does not"));
  CHECK_THAT(MessageOf("RMSNormalization", {{2, 3}, {1, 2, 3}}), Contains("[1, 2, 3] does not"));
  CHECK_THAT(MessageOf("LayerNormalization", {{2, 3}, {3}}, {},
                       [](::onnx::NodeProto& n) { SetInt(n, "stash_type", 7); }),
             Contains("'stash_type' must be the number of a float type"));
  CHECK_THAT(MessageOf("InstanceNormalization", {{2, 3, 4}, {2}, {3}}),
             Contains("its scale and bias must have 3 elements, not [2]"));
}

TEST_CASE("recurrent networks whose operands or attributes do not fit") {
  const Operand x = {3, 2, 4}, w = {1, 12, 4}, r = {1, 12, 3}, none = {-1};
  const std::vector<Operand> operands = {x, w, r};
  const auto activations = [](const std::vector<std::string>& names) {
    return [=](::onnx::NodeProto& node) {
      ::onnx::AttributeProto* attribute = node.add_attribute();
      attribute->set_name("activations");
      attribute->set_type(::onnx::AttributeProto::STRINGS);
      for (const std::string& name : names) attribute->add_strings(name);
    };
  };
  CHECK(MessageOf("LSTM", operands) == "imported");
  CHECK_THAT(
      MessageOf("LSTM", operands, {}, [](::onnx::NodeProto& n) { SetInt(n, "hidden_size", 5); }),
      Contains("attribute 'hidden_size' differs from its weights [1, 12, 3]"));
  CHECK_THAT(MessageOf("LSTM", operands, {}, [](::onnx::NodeProto& n) { SetFloat(n, "clip", -1); }),
             Contains("its clip must be positive"));
  CHECK_THAT(MessageOf("LSTM", {x, w, r, none, none, none, none, {1, 4}}),
             Contains("its peepholes must be [1, 9]"));
  CHECK_THAT(MessageOf("LSTM", operands, {}, activations({"Sigmoid", "Tanh"})),
             Contains("it names 2 activations, not 3"));
  CHECK_THAT(MessageOf("LSTM", operands, {}, activations({"ScaledTanh", "Tanh", "Tanh"})),
             Contains("activation 'ScaledTanh' needs its alpha and beta"));
}

TEST_CASE("groups, windows and modes that there are not") {
  const Operand image = {2, 4, 6, 6};
  CHECK_THAT(MessageOf("GroupNormalization", {image, {4}, {4}}, {},
                       [](::onnx::NodeProto& n) { SetInt(n, "num_groups", 3); }),
             Contains("it has 3 groups for an operand [2, 4, 6, 6]"));
  CHECK_THAT(MessageOf("LRN", {image}, {}, [](::onnx::NodeProto& n) { SetInt(n, "size", 0); }),
             Contains("attribute 'size' must be positive"));
  CHECK_THAT(MessageOf("MaxPool", {image}, {},
                       [](::onnx::NodeProto& n) {
                         compiler::SetInts(n, "kernel_shape", {2, 2});
                         SetInt(n, "storage_order", 2);
                       }),
             Contains("attribute 'storage_order' is 2"));
  CHECK_THAT(MessageOf("DepthToSpace", {image}, {},
                       [](::onnx::NodeProto& n) {
                         SetInt(n, "blocksize", 2);
                         SetText(n, "mode", "CDR");
                       }),
             Contains("its mode is 'CDR', neither DCR nor CRD"));
}

TEST_CASE("caches that are not written") {
  CHECK_THAT(MessageOf("TensorScatter", {{2, 4, 3}, {2, 5, 3}}),
             Contains("node_y") && Contains("it writes 5 rows into 4"));
  CHECK_THAT(MessageOf("TensorScatter", {{2, 4, 3}, {2, 1, 3}}, {},
                       [](::onnx::NodeProto& n) { SetText(n, "mode", "round"); }),
             Contains("its mode 'round' is unknown"));
}

}  // namespace
}  // namespace yuba::onnx
