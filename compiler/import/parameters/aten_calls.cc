#include "compiler/import/parameters/aten_calls.h"

#include "absl/strings/match.h"

namespace yuba::onnx {
namespace {

const std::vector<AtenOperand>& Rows() {
  // PyTorch has gates as input, forget, cell, output, and reset, update, new; ONNX as input,
  // output, forget, cell, and update, reset, hidden.
  static const std::vector<int>* const kLstm = new std::vector<int>{0, 3, 1, 2};
  static const std::vector<int>* const kGru = new std::vector<int>{1, 0, 2};
  static const auto* const kRows = new std::vector<AtenOperand>{
      // In another form.
      {"aten.linear", "MatMul", 1, 1, StoredForm::kTransposed, {}},
      {"aten.prelu", "PRelu", 1, 1, StoredForm::kReshaped, {}},
      {"aten._prelu_kernel", "PRelu", 1, 1, StoredForm::kReshaped, {}},
      {"aten.group_norm", "Mul", 1, 2, StoredForm::kReshaped, {}},
      {"aten.group_norm", "Add", 1, 3, StoredForm::kReshaped, {}},
      {"aten.native_group_norm", "Mul", 1, 1, StoredForm::kReshaped, {}},
      {"aten.native_group_norm", "Add", 1, 2, StoredForm::kReshaped, {}},
      {"aten.lstm", "LSTM", 1, 2, StoredForm::kBlocks, *kLstm},
      {"aten.lstm", "LSTM", 2, 2, StoredForm::kBlocks, *kLstm},
      {"aten.lstm", "LSTM", 3, 2, StoredForm::kBlocks, *kLstm},
      {"aten.gru", "GRU", 1, 2, StoredForm::kBlocks, *kGru},
      {"aten.gru", "GRU", 2, 2, StoredForm::kBlocks, *kGru},
      {"aten.gru", "GRU", 3, 2, StoredForm::kBlocks, *kGru},
      {"aten.rnn_tanh", "RNN", 1, 2, StoredForm::kBlocks, {}},
      {"aten.rnn_tanh", "RNN", 2, 2, StoredForm::kBlocks, {}},
      {"aten.rnn_tanh", "RNN", 3, 2, StoredForm::kBlocks, {}},
      // As they are; files may lack them.
      {"aten.linear", "Gemm", 2, 2, {}, {}},
      {"aten.addmm", "Gemm", 2, 0, {}, {}},
      {"aten.conv1d", "Conv", 2, 2, {}, {}},
      {"aten.conv2d", "Conv", 2, 2, {}, {}},
      {"aten.conv3d", "Conv", 2, 2, {}, {}},
      {"aten.convolution", "Conv", 2, 2, {}, {}},
      {"aten.convolution", "ConvTranspose", 2, 2, {}, {}},
      {"aten.conv_transpose1d", "ConvTranspose", 2, 2, {}, {}},
      {"aten.conv_transpose2d", "ConvTranspose", 2, 2, {}, {}},
      {"aten.conv_transpose3d", "ConvTranspose", 2, 2, {}, {}},
  };
  return *kRows;
}

// Whether the row is of the call and the operator.
bool IsOf(const AtenOperand& row, const CallRecord& call, const std::string& op_type) {
  const absl::string_view target = call.target;
  return absl::StartsWith(target, row.call) && target.substr(row.call.size(), 1) == "." &&
         row.op == op_type;
}

}  // namespace

const AtenOperand* FormedOperand(const CallRecord& call, const std::string& op_type, int operand) {
  for (const AtenOperand& row : Rows()) {
    if (row.form.has_value() && row.operand == operand && IsOf(row, call, op_type)) return &row;
  }
  return nullptr;
}

std::vector<const AtenOperand*> Biases(const CallRecord& call, const std::string& op_type) {
  std::vector<const AtenOperand*> biases;
  for (const AtenOperand& row : Rows()) {
    if (!row.form.has_value() && IsOf(row, call, op_type)) biases.push_back(&row);
  }
  return biases;
}

bool HasOperandsInOrder(const CallRecord& call) {
  for (const char* target : {"aten.linear.", "aten.conv", "aten.layer_norm.",
                             "aten.native_layer_norm.", "aten.group_norm."}) {
    if (absl::StartsWith(call.target, target)) return true;
  }
  return false;
}

}  // namespace yuba::onnx
