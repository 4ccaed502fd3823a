#include "runtime/program/check_definitions.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "opsemantics/base/status.h"

namespace yuba::program {
namespace {

class Checker {
 public:
  Checker(const Function& function, const Kernel& kernel)
      : function_(function),
        kernel_(kernel),
        computed_(kernel.results_size() + kernel.internals_size()) {}

  absl::Status Check() {
    const int count = function_.definitions_size();
    if (count == 0) return UserError("its function computes nothing");
    if (kernel_.node_size() != count || kernel_.from_size() != count) {
      return UserError(kernel_.node_size(), " nodes from ", kernel_.from_size(), " for the ", count,
                       " definitions of its function");
    }
    if (kernel_.results_size() == 0) return UserError("it has no result");
    if (count > 1 && function_.has_library() && function_.library().post_ops().empty()) {
      return UserError("a library call of a cluster, without post-ops");
    }
    for (const FunctionDefinition& definition : function_.definitions()) {
      const absl::Status status = CheckDefinition(definition);
      if (!status.ok() && count > 1) return Annotate(status, definition.text());
      YUBA_RETURN_IF_ERROR(status);
    }
    if (std::find(computed_.begin(), computed_.end(), false) != computed_.end()) {
      return UserError("no definition of its function computes one of its tensors");
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckDefinition(const FunctionDefinition& definition) {
    if (!Reducer_IsValid(definition.reducer())) {
      return UserError("no reducer ", definition.reducer());
    }
    std::set<int> indices;
    for (const int index : definition.indices()) {
      if (index >= 0 && index < function_.indices_size() && indices.insert(index).second) continue;
      return UserError("index ", index, " is not there or named twice");
    }
    YUBA_RETURN_IF_ERROR(CheckWork(definition, indices));
    for (const KernelTensor& tensor : definition.operands()) {
      if (tensor.kind_case() == KernelTensor::kOperand) {
        if (tensor.operand() >= 0 && tensor.operand() < kernel_.operands_size()) continue;
        return UserError("no operand ", tensor.operand());
      }
      const int number = Number(tensor);
      if (number < 0) return UserError("it reads a tensor that the kernel does not have");
      if (!computed_[number]) return UserError("it reads a tensor that is not computed yet");
    }
    const int number = Number(definition.computes());
    if (number < 0) return UserError("it computes a tensor that the kernel does not have");
    if (computed_[number]) return UserError("it computes a tensor once more");
    computed_[number] = true;
    return absl::OkStatus();
  }

  static absl::Status CheckWork(const FunctionDefinition& definition,
                                const std::set<int>& indices) {
    if (!KernelClass_IsValid(definition.kernel_class())) {
      return UserError("no class of kernels ", definition.kernel_class());
    }
    if (!ElementType_IsValid(definition.type())) {
      return UserError("no element type ", definition.type());
    }
    for (const double count : {definition.operations(), definition.roots(), definition.functions(),
                               definition.powers()}) {
      if (!std::isfinite(count) || count < 0) return UserError(count, " operations at each point");
    }
    if (definition.row() < 0 || definition.row() > definition.indices_size()) {
      return UserError("runs along its index ", definition.row() - 1, ", which is not there");
    }
    if (definition.turned() < 0 || definition.turned() > definition.operands_size()) {
      return UserError("turns operand ", definition.turned() - 1, ", which is not there");
    }
    for (const IndexTie& tie : definition.ties()) {
      for (const int index : tie.indices()) {
        if (indices.count(index) == 0) return UserError("ties index ", index, ", not one of its");
      }
    }
    return absl::OkStatus();
  }

  // The place of a result or internal tensor in `computed_`; -1 where it is none of the kernel's.
  int Number(const KernelTensor& tensor) const {
    const int results = kernel_.results_size();
    if (tensor.kind_case() == KernelTensor::kResult) {
      return tensor.result() >= 0 && tensor.result() < results ? tensor.result() : -1;
    }
    if (tensor.kind_case() != KernelTensor::kInternal) return -1;
    const int internal = tensor.internal();
    return internal >= 0 && internal < kernel_.internals_size() ? results + internal : -1;
  }

  const Function& function_;
  const Kernel& kernel_;
  std::vector<bool> computed_;  // the results, then the internal tensors
};

}  // namespace

absl::Status CheckDefinitions(const Function& function, const Kernel& kernel) {
  return Checker(function, kernel).Check();
}

}  // namespace yuba::program
