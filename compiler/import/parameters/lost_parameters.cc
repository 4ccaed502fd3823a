// Parameters of which the exporter computes something, as a view or a sum with 1, and stores the
// result once with an equal tensor of another name.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/import/file/read.h"
#include "compiler/import/parameters/float_tensor.h"
#include "compiler/import/parameters/folded.h"
#include "compiler/import/parameters/named_operands.h"
#include "compiler/import/parameters/restoring.h"

namespace yuba::onnx {
namespace {

using Names = std::vector<std::string>;

// What the nodes of one call read that it does not name, and what it names that the file has not.
struct Unexplained {
  std::set<std::string> stored;   // initializers of floats
  std::set<std::string> results;  // of nodes, inputs, initializers of other types
  std::set<std::string> absent;
};

class LostFinder {
 public:
  LostFinder(const std::string& folder, const ::onnx::GraphProto& graph, const ExportRecord& record)
      : folder_(folder), graph_(graph), record_(record), program_(graph, record) {
    for (const ::onnx::TensorProto& tensor : graph.initializer()) stored_[tensor.name()] = &tensor;
  }

  std::map<std::string, std::string> Find() {
    for (int n = 0; n < graph_.node_size(); ++n) {
      if (program_.call(n).has_value()) LookAt(n, *program_.call(n));
    }
    const Names unnamed = Unnamed();
    for (const auto& [call, unexplained] : calls_) LookAtCall(unexplained, unnamed);
    return std::move(lost_);
  }

 private:
  void LookAt(int n, const CallRecord& call) {
    named_.insert(call.values.begin(), call.values.end());
    Unexplained& unexplained = calls_[call.result];
    const NamedOperands operands = program_.Of(n);
    for (const int i : operands.others) unexplained.results.insert(graph_.node(n).input(i));
    for (const std::string& value : graph_.node(n).input()) {
      const auto tensor = stored_.find(value);
      if (tensor == stored_.end() || IsExplained(value, call)) continue;
      (HoldsFloats(*tensor->second) ? unexplained.stored : unexplained.results).insert(value);
    }
    for (const std::string& called : operands.absent) {
      if (!IsMadeOf(called, graph_.node(n))) unexplained.absent.insert(called);
    }
  }

  const ValueRecord& RecordOf(const std::string& value) const {
    static const ValueRecord* const kNone = new ValueRecord;
    const auto found = record_.values.find(value);
    return found == record_.values.end() ? *kNone : found->second;
  }

  // Whether the call names the stored value, or what that was folded from.
  bool IsExplained(const std::string& value, const CallRecord& call) const {
    Names names = RecordOf(value).folded_from;
    names.push_back(value);
    names.push_back(RecordOf(value).called);
    for (const std::string& called : call.values) {
      for (const auto* known : {&record_.parameters, &record_.buffers}) {
        const auto name = known->find(called);
        if (name != known->end() && std::count(names.begin(), names.end(), name->second) > 0)
          return true;
      }
      if (std::count(names.begin(), names.end(), called) > 0) return true;
    }
    return false;
  }

  // Whether an operand of the node was folded from the value of the exported program.
  bool IsMadeOf(const std::string& called, const ::onnx::NodeProto& node) const {
    return std::any_of(node.input().begin(), node.input().end(), [&](const std::string& value) {
      const Names& from = RecordOf(value).folded_from;
      return std::count(from.begin(), from.end(), called) > 0;
    });
  }

  // Parameters that neither a call names nor a stored value is or was folded from.
  Names Unnamed() const {
    std::set<std::string> known;
    for (const auto& [name, tensor] : stored_) {
      known.insert(name);
      known.insert(RecordOf(name).folded_from.begin(), RecordOf(name).folded_from.end());
    }
    Names unnamed;
    for (const auto& [called, name] : record_.parameters) {
      if (known.count(name) + named_.count(called) == 0) unnamed.push_back(name);
    }
    return unnamed;
  }

  void LookAtCall(const Unexplained& call, const Names& unnamed) {
    if (call.absent.size() <= call.results.size()) return;
    const bool constants = std::all_of(call.absent.begin(), call.absent.end(), MakesConstant);
    const auto first =
        constants ? call.absent.begin()
                  : std::find_if_not(call.absent.begin(), call.absent.end(), MakesConstant);
    for (const std::string& value : call.stored) {
      const std::string as = absl::StrCat(*first, " is stored as ", value);
      for (const std::string& name : PerhapsAnother(value, *first, constants, unnamed))
        lost_.emplace(name, absl::StrCat("perhaps ", as));
      if (constants || unnamed.empty() || !IsPlain(value)) continue;
      for (const std::string& name : unnamed)
        lost_.emplace(name, absl::StrCat("no node names it, and ", as));
    }
  }

  // The parameters that the stored value is of, where what the call names instead, `absent`, may be
  // something else of equal elements. A parameter that no call names is that, copied.
  Names PerhapsAnother(const std::string& value, const std::string& absent, bool constant,
                       const Names& unnamed) {
    const ValueRecord& record = RecordOf(value);
    if (record.kind == ValueRecord::kParameter) {
      const std::string& as = copied_.emplace(value, absent).first->second;
      const bool copied = named_.count(NameInProgram(value)) == 0 && as == absent;
      return constant || (copied && unnamed.empty()) ? Names() : Names{value};
    }
    Names parameters;
    for (const auto& [called, name] : record_.parameters) {
      if (constant && std::count(record.folded_from.begin(), record.folded_from.end(), name) > 0)
        parameters.push_back(name);
    }
    return parameters;
  }

  std::string NameInProgram(const std::string& parameter) const {
    for (const auto& [called, name] : record_.parameters) {
      if (name == parameter) return called;
    }
    return "";
  }

  // Whether a parameter may have begun as these values: at most two finite numbers, as in a tensor
  // of ones or an identity matrix. Tensors that cannot be read may be anything.
  bool IsPlain(const std::string& value) const {
    const absl::StatusOr<TensorData> tensor = ReadTensor(*stored_.at(value), folder_);
    if (!tensor.ok()) return true;
    std::set<double> numbers;
    const int64_t count = static_cast<int64_t>(tensor->data.size()) / ByteSize(tensor->type);
    for (int64_t i = 0; i < count && numbers.size() <= 2; ++i) {
      const double number = ValueAt(*tensor, i);
      if (!std::isfinite(number)) return false;
      numbers.insert(number);
    }
    return numbers.size() <= 2;
  }

  const std::string& folder_;
  const ::onnx::GraphProto& graph_;
  const ExportRecord& record_;
  const ExportedProgram program_;
  std::map<std::string, const ::onnx::TensorProto*> stored_;
  std::set<std::string> named_;                // by any call
  std::map<std::string, Unexplained> calls_;   // by their results
  std::map<std::string, std::string> copied_;  // parameters, and by what name one is read first
  std::map<std::string, std::string> lost_;    // parameters, and what is known of them
};

}  // namespace

std::map<std::string, std::string> FindLost(const std::string& folder,
                                            const ::onnx::GraphProto& graph,
                                            const ExportRecord& record) {
  return LostFinder(folder, graph, record).Find();
}

}  // namespace yuba::onnx
