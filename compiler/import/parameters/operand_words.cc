#include "compiler/import/parameters/operand_words.h"

#include "absl/strings/string_view.h"

namespace yuba::onnx {
namespace {

struct Row {
  absl::string_view op;
  int position;
  OperandWord word;
};

constexpr Row kRows[] = {
    {"BatchNormalization", 1, OperandWord::kScale},
    {"BatchNormalization", 2, OperandWord::kBias},
    {"BatchNormalization", 4, OperandWord::kVariance},
    {"Conv", 1, OperandWord::kWeight},
    {"Conv", 2, OperandWord::kBias},
    {"ConvTranspose", 1, OperandWord::kWeight},
    {"ConvTranspose", 2, OperandWord::kBias},
    {"GRU", 1, OperandWord::kWeight},
    {"GRU", 2, OperandWord::kWeight},
    {"GRU", 3, OperandWord::kBias},
    {"GRU", 5, OperandWord::kFirstState},
    {"Gemm", 1, OperandWord::kWeight},
    {"Gemm", 2, OperandWord::kBias},
    {"GroupNormalization", 1, OperandWord::kScale},
    {"GroupNormalization", 2, OperandWord::kBias},
    {"InstanceNormalization", 1, OperandWord::kScale},
    {"InstanceNormalization", 2, OperandWord::kBias},
    {"LSTM", 1, OperandWord::kWeight},
    {"LSTM", 2, OperandWord::kWeight},
    {"LSTM", 3, OperandWord::kBias},
    {"LSTM", 5, OperandWord::kFirstState},
    {"LSTM", 6, OperandWord::kFirstState},
    {"LayerNormalization", 1, OperandWord::kScale},
    {"LayerNormalization", 2, OperandWord::kBias},
    {"MatMul", 1, OperandWord::kWeight},
    {"PRelu", 1, OperandWord::kSlope},
    {"RMSNormalization", 1, OperandWord::kScale},
    {"RNN", 1, OperandWord::kWeight},
    {"RNN", 2, OperandWord::kWeight},
    {"RNN", 3, OperandWord::kBias},
    {"RNN", 5, OperandWord::kFirstState},
};

}  // namespace

OperandWord WordOfOperand(const std::string& op_type, int position) {
  for (const Row& row : kRows) {
    if (row.op == op_type && row.position == position) return row.word;
  }
  return OperandWord::kNone;
}

namespace {

// Which of the values that a Loop or Scan carries from run to run the operand begins; -1: none.
int CarriedBy(const ::onnx::NodeProto& node, int position) {
  if (node.op_type() == "Loop") return position - 2;
  if (node.op_type() != "Scan") return -1;
  int64_t scanned = 0;
  for (const ::onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "num_scan_inputs") scanned = attribute.i();
  }
  return position < node.input_size() - scanned ? position : -1;
}

// Whether the body's output is its input, or a copy of it.
bool HandsOn(const ::onnx::GraphProto& body, int input, int output) {
  if (input >= body.input_size() || output >= body.output_size()) return true;
  std::string name = body.output(output).name();
  for (int n = body.node_size(); n-- > 0;) {
    const ::onnx::NodeProto& node = body.node(n);
    if (IsCopy(node.op_type()) && node.input_size() == 1 && node.output_size() == 1 &&
        node.output(0) == name)
      name = node.input(0);
  }
  return name == body.input(input).name();
}

}  // namespace

bool BeginsWhatRunsChange(const ::onnx::NodeProto& node, int position) {
  const int carried = CarriedBy(node, position);
  if (carried < 0) return false;
  const bool loop = node.op_type() == "Loop";
  for (const ::onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() != "body") continue;
    return !HandsOn(attribute.g(), loop ? 2 + carried : carried, loop ? 1 + carried : carried);
  }
  return false;
}

bool Adds(const std::string& op_type) { return op_type == "Add"; }

bool MultipliesMatrices(const std::string& op_type) { return op_type == "MatMul"; }

bool IsCopy(const std::string& op_type) { return op_type == "Identity"; }

bool IsView(const std::string& op_type) {
  for (const char* view : {"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}) {
    if (op_type == view) return true;
  }
  return false;
}

}  // namespace yuba::onnx
