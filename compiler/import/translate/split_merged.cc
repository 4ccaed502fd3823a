#include "compiler/import/translate/split_merged.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/translate/folded.h"

namespace yuba::onnx {
namespace {

class Splitter {
 public:
  Splitter(::onnx::GraphProto& graph, ExportRecord& record) : graph_(graph), record_(record) {
    for (int t = 0; t < graph.initializer_size(); ++t) stored_[graph.initializer(t).name()] = t;
    for (const auto& [name, value] : record.values) {
      if (stored_.count(name) == 0) continue;
      if (value.kind == ValueRecord::kParameter) there_.insert(name);
      there_.insert(value.folded_from.begin(), value.folded_from.end());
    }
  }

  std::vector<std::string> Split() {
    std::vector<absl::optional<CallRecord>> calls;
    for (const ::onnx::NodeProto& node : graph_.node()) calls.push_back(ReadNodeRecord(node).call);
    // Values in another form first: what remains to be found is stored as it is.
    for (int n = 0; n < graph_.node_size(); ++n) {
      if (calls[n].has_value()) SplitFormed(*calls[n], *graph_.mutable_node(n));
    }
    for (int n = 0; n < graph_.node_size(); ++n) {
      if (calls[n].has_value()) SplitPlain(*calls[n], *graph_.mutable_node(n));
    }
    return std::move(names_);
  }

 private:
  const ValueRecord& RecordOf(const std::string& name) const {
    static const ValueRecord* const kNone = new ValueRecord;
    const auto found = record_.values.find(name);
    return found == record_.values.end() ? *kNone : found->second;
  }

  void SplitFormed(const CallRecord& call, ::onnx::NodeProto& node) {
    for (int i = 0; i < node.input_size(); ++i) {
      const std::string name = node.input(i);
      const auto stored = stored_.find(name);
      if (stored == stored_.end() || RecordOf(name).folded_from.empty()) continue;
      const std::string parameter = ParameterOfOperand(call, node.op_type(), i, record_.parameters);
      if (parameter.empty() || there_.count(parameter) > 0) continue;
      ValueRecord made;
      made.folded_from = {parameter};
      Give(node, i, parameter, absl::StrCat(name, "/", parameter), std::move(made));
    }
  }

  void SplitPlain(const CallRecord& call, ::onnx::NodeProto& node) {
    std::map<std::string, int64_t> reads;
    std::vector<int> unnamed;  // operands that stand for parameters of other names
    for (int i = 0; i < node.input_size(); ++i) {
      const ValueRecord& value = RecordOf(node.input(i));
      if (stored_.count(node.input(i)) == 0 || value.kind != ValueRecord::kParameter) continue;
      const auto named = std::count(call.values.begin(), call.values.end(), value.called);
      if (++reads[node.input(i)] > named) unnamed.push_back(i);
    }
    std::vector<std::pair<std::string, std::string>> lacking;  // in the program, in PyTorch
    for (const std::string& called : call.values) {
      const auto parameter = record_.parameters.find(called);
      const auto buffer = record_.buffers.find(called);
      if (buffer != record_.buffers.end() && stored_.count(buffer->second) == 0) return;
      if (parameter == record_.parameters.end()) continue;
      const bool known = there_.count(parameter->second) + stored_.count(parameter->second) > 0;
      const std::pair<std::string, std::string> one = {called, parameter->second};
      if (!known && std::find(lacking.begin(), lacking.end(), one) == lacking.end())
        lacking.push_back(one);
      // That another node of the program has made it known must not shift the others.
      if (known && made_.count(parameter->second) > 0) lacking.push_back(one);
    }
    if (unnamed.empty() || unnamed.size() != lacking.size()) return;
    if (lacking.size() > 1 && !HasOperandsInOrder(call)) return;
    for (size_t k = 0; k < unnamed.size(); ++k) {
      const auto& [called, name] = lacking[k];
      if (made_.count(name) > 0) {
        node.set_input(unnamed[k], name);
        continue;
      }
      ValueRecord record;
      record.kind = ValueRecord::kParameter;
      record.called = called;
      Give(node, unnamed[k], name, name, std::move(record));
      made_.insert(name);
    }
  }

  // Whether the operands of the node that is made of the call stand in the call's order.
  static bool HasOperandsInOrder(const CallRecord& call) {
    for (const char* target : {"aten.linear.", "aten.conv", "aten.layer_norm.",
                               "aten.native_layer_norm.", "aten.group_norm."}) {
      if (absl::StartsWith(call.target, target)) return true;
    }
    return false;
  }

  // Makes the node read a copy of its operand, the initializer `name`.
  void Give(::onnx::NodeProto& node, int operand, const std::string& parameter,
            const std::string& name, ValueRecord record) {
    const auto known = stored_.find(name);
    if (known == stored_.end()) {
      ::onnx::TensorProto copy = graph_.initializer(stored_.at(node.input(operand)));
      copy.set_name(name);
      stored_[name] = graph_.initializer_size();
      *graph_.add_initializer() = std::move(copy);
      record_.values[name] = std::move(record);
      there_.insert(parameter);
      names_.push_back(parameter);
    }
    node.set_input(operand, name);
  }

  ::onnx::GraphProto& graph_;
  ExportRecord& record_;
  std::map<std::string, int> stored_;  // initializers by name: their positions
  std::set<std::string> there_;        // parameters that a stored value is, or was made of
  std::set<std::string> made_;         // of them: initializers of our own
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> SplitMerged(::onnx::GraphProto& graph, ExportRecord& record) {
  if (record.parameters.empty()) return {};
  return Splitter(graph, record).Split();
}

}  // namespace yuba::onnx
