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
