#include "runtime/program/post_ops.h"

#include <cmath>
#include <set>

#include "opsemantics/base/status.h"

namespace yuba::runtime {
namespace {

// One step's operand on one device.
class OperandCheck {
 public:
  OperandCheck(const LoadedProgram& program, const program::Kernel& kernel, const Box& written,
               int device)
      : program_(program),
        call_(program.message().functions(kernel.function()).library()),
        kernel_(kernel),
        written_(written),
        device_(device),
        result_dims_(ResultDims(call_, kernel.indices_size())) {}

  absl::Status Check(const program::PostOp& step) const {
    if (step.operand() < 0 || step.operand() >= kernel_.operands_size()) {
      return UserError("it reads operand ", step.operand(), ", which is not there");
    }
    const int buffer = kernel_.operands(step.operand()).buffer();
    const Box box = program_.BufferBox(buffer, device_);
    if (program_.message().buffers(buffer).type() != call_.type()) {
      return UserError("operand ", step.operand(), " has another type than the call");
    }
    if (step.indices_size() != static_cast<int>(box.size())) {
      return UserError(step.indices_size(), " indices for ", box.size(), " dimensions");
    }
    if (IsEmpty(written_)) return absl::OkStatus();
    std::set<int> seen;
    for (size_t d = 0; d < box.size(); ++d) {
      const int index = step.indices(static_cast<int>(d));
      const bool bare = index >= 0 && index < kernel_.indices_size() && result_dims_[index] >= 0;
      if (index != -1 && (!bare || !seen.insert(index).second)) {
        return UserError("index ", index, " is none of the result, or named twice");
      }
      const Interval part = bare ? written_[result_dims_[index]] : Interval{0, 1};
      if (box[d].Contains(part)) continue;
      return UserError("dimension ", d, " of its operand is used over ", ToString(part),
                       ", the buffer has ", ToString(box[d]));
    }
    return absl::OkStatus();
  }

 private:
  const LoadedProgram& program_;
  const program::LibraryCall& call_;
  const program::Kernel& kernel_;
  const Box& written_;
  const int device_;
  const std::vector<int> result_dims_;
};

}  // namespace

std::vector<int> ResultDims(const program::LibraryCall& call, int count) {
  std::vector<int> dims(count, -1);
  const auto set = [&](int index, int dim) {
    if (index >= 0 && index < count && dim >= 0) dims[index] = dim;
  };
  for (const auto* role :
       {&call.batch(), &call.groups(), &call.rows(), &call.columns(), &call.inner()}) {
    for (const program::LibraryIndex& index : *role) set(index.index(), index.result_dim());
  }
  for (const program::LibraryWindow& window : call.windows()) {
    set(window.output(), window.output_dim());
  }
  return dims;
}

absl::Status ValidatePostOps(const program::LibraryCall& call) {
  if (call.post_ops().empty()) return absl::OkStatus();
  if (call.kind() != program::LibraryCall::CONTRACTION &&
      call.kind() != program::LibraryCall::CONVOLUTION) {
    return UserError("a gradient of a convolution with post-ops");
  }
  for (const program::PostOp& step : call.post_ops()) {
    if (!program::PostOp::Kind_IsValid(step.kind())) {
      return UserError("no kind ", step.kind(), " of post-ops");
    }
    if (!std::isfinite(step.factor())) return UserError("a factor of ", step.factor());
  }
  return absl::OkStatus();
}

absl::Status ValidatePostOperands(const LoadedProgram& program, const program::Kernel& kernel,
                                  const Box& written, int device) {
  const auto& call = program.message().functions(kernel.function()).library();
  if (program.message().buffers(kernel.results(0).buffer()).type() != call.type())
    return UserError("post-ops of a call with a result of another type than that of its operands");
  const OperandCheck check(program, kernel, written, device);
  const auto& steps = call.post_ops();
  for (int s = 0; s < steps.size(); ++s) {
    if (!HasOperand(steps[s])) continue;
    YUBA_RETURN_IF_ERROR(Annotate(check.Check(steps[s]), absl::StrCat("post-op ", s)));
  }
  return absl::OkStatus();
}

}  // namespace yuba::runtime
