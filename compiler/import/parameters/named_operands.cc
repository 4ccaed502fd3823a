#include "compiler/import/parameters/named_operands.h"

#include <algorithm>

namespace yuba::onnx {
namespace {

bool Names(const CallRecord& call, const std::string& called) {
  return std::find(call.values.begin(), call.values.end(), called) != call.values.end();
}

bool IsSame(const CallRecord& a, const CallRecord& b) {
  return a.target == b.target && a.texts == b.texts && a.values == b.values;
}

}  // namespace

ExportedProgram::ExportedProgram(const ::onnx::GraphProto& graph, const ExportRecord& record)
    : graph_(graph), record_(record) {
  for (const ::onnx::TensorProto& tensor : graph.initializer()) stored_.insert(tensor.name());
  for (int n = 0; n < graph.node_size(); ++n) {
    calls_.push_back(ReadNodeRecord(graph.node(n)).call);
    for (const std::string& output : graph.node(n).output()) makers_[output] = n;
  }
  // Whoever exports may give inputs other names than the program has.
  size_t i = 0;
  for (const ::onnx::ValueInfoProto& input : graph.input()) {
    if (stored_.count(input.name()) > 0) continue;
    inputs_[input.name()] = i < record.inputs.size() ? record.inputs[i] : input.name();
    ++i;
  }
}

int ExportedProgram::MakerOf(const std::string& value) const {
  const auto maker = makers_.find(value);
  return maker == makers_.end() ? -1 : maker->second;
}

// Whether the file has what the program calls so.
bool ExportedProgram::IsThere(const std::string& called) const {
  return record_.parameters.count(called) + record_.buffers.count(called) > 0 ||
         makers_.count(called) + stored_.count(called) > 0 ||
         std::any_of(inputs_.begin(), inputs_.end(), [&](const auto& input) {
           return input.first == called || input.second == called;
         });
}

bool ExportedProgram::IsNamed(const std::string& value, const CallRecord& call) const {
  if (Names(call, value)) return true;
  const auto input = inputs_.find(value);
  if (input != inputs_.end()) return Names(call, input->second);
  const int maker = MakerOf(value);  // an inner value of the same call
  return maker >= 0 && calls_[maker].has_value() && IsSame(*calls_[maker], call);
}

// What the program calls the stored parameter; "" of other values, and where that is not known.
std::string ExportedProgram::NameOfParameter(const std::string& value) const {
  const auto record = record_.values.find(value);
  if (record == record_.values.end() || record->second.kind != ValueRecord::kParameter) return "";
  if (!record->second.called.empty()) return record->second.called;
  for (const auto& [called, name] : record_.parameters) {
    if (name == value) return called;
  }
  return "";
}

bool ExportedProgram::IsCalled(const std::string& value, const std::string& called) const {
  const auto input = inputs_.find(value);
  if (input != inputs_.end()) return input->second == called;
  const auto buffer = record_.buffers.find(called);
  if (buffer != record_.buffers.end()) return stored_.count(value) > 0;
  return value == called || NameOfParameter(value) == called;
}

NamedOperands ExportedProgram::Of(int n) const {
  NamedOperands operands;
  if (!calls_[n].has_value()) return operands;
  const CallRecord& call = *calls_[n];
  std::map<std::string, int64_t> reads;
  for (int i = 0; i < graph_.node(n).input_size(); ++i) {
    const std::string& value = graph_.node(n).input(i);
    if (makers_.count(value) + inputs_.count(value) > 0) {
      if (!IsNamed(value, call)) operands.others.push_back(i);
      continue;
    }
    const std::string called = NameOfParameter(value);
    if (called.empty()) continue;
    const auto named = std::count(call.values.begin(), call.values.end(), called);
    if (++reads[value] > named) operands.stand_ins.push_back(i);
  }
  for (const std::string& called : call.values) {
    if (!IsThere(called)) operands.absent.push_back(called);
  }
  return operands;
}

}  // namespace yuba::onnx
