// Integers that stand for numbers: what is wrong with scales, zero points and types, and that
// rounding is not trained through.
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"

namespace yuba::onnx {
namespace {

using Catch::Matchers::Contains;
using compiler::OnnxBuilder;
using compiler::SetInt;
using Operand = std::pair<std::vector<int64_t>, int>;  // dims and ONNX's number of the type

constexpr int kFloat = ::onnx::TensorProto::FLOAT, kI32 = ::onnx::TensorProto::INT32,
              kI8 = ::onnx::TensorProto::INT8, kU8 = ::onnx::TensorProto::UINT8;

std::string MessageOf(
    const std::string& op, const std::vector<Operand>& operands,
    const std::function<void(::onnx::NodeProto&)>& change = [](auto&) {}) {
  OnnxBuilder builder(24);
  std::vector<std::string> names;
  for (const auto& [dims, type] : operands) {
    names.push_back("x" + std::to_string(names.size()));
    builder.Input(names.back(), dims, type);
  }
  change(builder.Node(op, names, {"y"}));
  builder.Output("y");
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  return model.ok() ? "imported" : std::string(model.status().message());
}

TEST_CASE("scales and zero points that do not fit") {
  const Operand x = {{4, 6}, kFloat}, one = {{}, kFloat};
  CHECK(MessageOf("QuantizeLinear", {x, one, {{}, kI8}}) == "imported");
  CHECK(MessageOf("QuantizeLinear", {x, {{6}, kFloat}, {{6}, kU8}}) == "imported");
  CHECK(MessageOf("DequantizeLinear", {{{6}, kI8}, {{1}, kFloat}, {{}, kI8}}) == "imported");
  CHECK_THAT(
      MessageOf("QuantizeLinear", {x, {{4}, kFloat}}),
      Contains("node_y") && Contains("its scale [4] does not fit its operand [4, 6]: it must "
                                     "be one number, one for each position of dimension 1"));
  CHECK_THAT(MessageOf("QuantizeLinear", {x, {{6}, kFloat}, {{}, kU8}}),
             Contains("its scale [6] and its zero point [] must be of one shape"));
  CHECK_THAT(MessageOf("QuantizeLinear", {x, one, {{}, kI32}}),
             Contains("it makes i32, and only u8 and i8 are supported"));
  CHECK_THAT(MessageOf("QuantizeLinear", {x, one, {{}, kU8}},
                       [](auto& node) { SetInt(node, "output_dtype", kI8); }),
             Contains("its zero point is u8, and 'output_dtype' says another type"));
}

TEST_CASE("blocks") {
  const auto blocks = [](int64_t size) {
    return [size](::onnx::NodeProto& node) { SetInt(node, "block_size", size); };
  };
  const Operand x = {{4, 6}, kI8}, scale = {{4, 2}, kFloat};
  CHECK(MessageOf("DequantizeLinear", {x, scale}, blocks(3)) == "imported");
  CHECK_THAT(MessageOf("DequantizeLinear", {x, scale}), Contains("its scale [4, 2] does not fit"));
  CHECK_THAT(MessageOf("DequantizeLinear", {x, scale}, blocks(2)), Contains("does not fit"));
  CHECK_THAT(MessageOf("DequantizeLinear", {x, scale}, blocks(4)),
             Contains("its blocks of 4 do not make the 6 elements of dimension 1"));
}

TEST_CASE("no training passes through rounding") {
  for (const char* op : {"QuantizeLinear", "DynamicQuantizeLinear"}) {
    OnnxBuilder builder(24);
    builder.Input("x", {4, 6});
    builder.Input("scale", {});
    builder.Weight("w", {6, 5});
    builder.Node("MatMul", {"x", "w"}, {"h"});
    std::vector<std::string> inputs = {"h"}, outputs = {"q", "by", "at"};
    if (op == std::string("QuantizeLinear")) {
      inputs.push_back("scale");
      outputs.resize(1);
    }
    builder.Node(op, inputs, outputs);
    builder.Node("DequantizeLinear", {"q", "scale"}, {"y"});
    builder.Output("y");
    ImportOptions options;
    CHECK(compiler::ImportFile(builder.Save(), options).ok());
    options.train = TrainOptions{"sgd", "mse", "", {}};
    const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
    CHECK_THAT(std::string(model.status().message()),
               Contains("it rounds, so that no gradient passes: train the model of before"));
  }
}

}  // namespace
}  // namespace yuba::onnx
