#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/import/parameters/aten_calls.h"
#include "compiler/import/parameters/folded.h"
#include "compiler/import/parameters/named_operands.h"
#include "compiler/import/parameters/restoring.h"

namespace yuba::onnx {
namespace {

class Splitter {
 public:
  Splitter(::onnx::GraphProto& graph, ExportRecord& record, RestoredParameters& restored)
      : graph_(graph), record_(record), restored_(restored) {
    for (int t = 0; t < graph.initializer_size(); ++t) stored_[graph.initializer(t).name()] = t;
    for (const auto& [name, value] : record.values) {
      if (stored_.count(name) == 0) continue;
      if (value.kind == ValueRecord::kParameter) there_.insert(name);
      there_.insert(value.folded_from.begin(), value.folded_from.end());
    }
  }

  void Split() {
    const ExportedProgram program(graph_, record_);
    const int nodes = graph_.node_size();
    // Values in another form first: what remains to be found is stored as it is.
    for (int n = 0; n < nodes; ++n) {
      if (program.call(n).has_value()) SplitFormed(*program.call(n), *graph_.mutable_node(n));
    }
    for (int n = 0; n < nodes; ++n) {
      if (program.call(n).has_value())
        SplitPlain(*program.call(n), program.Of(n), *graph_.mutable_node(n));
    }
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

  void SplitPlain(const CallRecord& call, const NamedOperands& operands, ::onnx::NodeProto& node) {
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
    const std::vector<int>& unnamed = operands.stand_ins;
    // Operands that only a fused node explains may be parameters of another call.
    // So may the results of calls that are gone, unless these make constants.
    const bool constants =
        std::all_of(operands.absent.begin(), operands.absent.end(), MakesConstant);
    if (lacking.empty() && operands.others.empty() && constants) GiveConstants(unnamed, node);
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

  // Makes the node read constants where it reads parameters that its call does not name.
  void GiveConstants(const std::vector<int>& operands, ::onnx::NodeProto& node) {
    for (const int i : operands) {
      const std::string parameter = node.input(i);
      ValueRecord record;
      record.kind = ValueRecord::kBuffer;
      Give(node, i, "", absl::StrCat(parameter, "/constant"), std::move(record));
      if (std::count(restored_.shared.begin(), restored_.shared.end(), parameter) == 0)
        restored_.shared.push_back(parameter);
    }
  }

  // Makes the node read a copy of its operand, the initializer `name`, which is that parameter, or
  // none where it is empty.
  void Give(::onnx::NodeProto& node, int operand, const std::string& parameter,
            const std::string& name, ValueRecord record) {
    const auto known = stored_.find(name);
    if (known == stored_.end()) {
      ::onnx::TensorProto copy = graph_.initializer(stored_.at(node.input(operand)));
      copy.set_name(name);
      stored_[name] = graph_.initializer_size();
      *graph_.add_initializer() = std::move(copy);
      record_.values[name] = std::move(record);
      if (parameter.empty()) return node.set_input(operand, name);
      there_.insert(parameter);
      restored_.merged.push_back(parameter);
    }
    node.set_input(operand, name);
  }

  ::onnx::GraphProto& graph_;
  ExportRecord& record_;
  std::map<std::string, int> stored_;  // initializers by name: their positions
  std::set<std::string> there_;        // parameters that a stored value is, or was made of
  std::set<std::string> made_;         // of them: initializers of our own
  RestoredParameters& restored_;
};

}  // namespace

void SplitMerged(::onnx::GraphProto& graph, ExportRecord& record, RestoredParameters& restored) {
  Splitter(graph, record, restored).Split();
}

}  // namespace yuba::onnx
