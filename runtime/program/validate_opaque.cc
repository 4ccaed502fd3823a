// The part of validation that knows what calls of an opaque function are.
#include <algorithm>

#include "opsemantics/base/status.h"
#include "runtime/program/opaque_calls.h"
#include "runtime/program/validate.h"

namespace yuba::runtime {
namespace {

// Whether each dimension has an index of its own, all of them among the function's; marks them.
absl::Status CheckIndices(const program::OpaqueTensor& tensor, const program::Function& function,
                          std::vector<bool>& named) {
  std::vector<bool> used(function.indices_size(), false);
  for (int index : tensor.indices()) {
    if (index < 0 || index >= function.indices_size() || used[index]) {
      return UserError("index ", index, " is not there or named twice");
    }
    used[index] = named[index] = true;
  }
  return absl::OkStatus();
}

// One tensor on one device: its dimensions run over the ranges of their indices.
absl::Status CheckTensor(const LoadedProgram& program, const program::OpaqueTensor& tensor,
                         const program::Kernel& kernel, const program::Access& access, int device,
                         bool calls) {
  const Box buffer = program.BufferBox(access.buffer(), device);
  if (tensor.indices_size() != static_cast<int>(buffer.size())) {
    return UserError(tensor.indices_size(), " indices for ", buffer.size(), " dimensions");
  }
  for (size_t d = 0; calls && d < buffer.size(); ++d) {
    const Interval part =
        program.IntervalOf(kernel.indices(tensor.indices(static_cast<int>(d))), device);
    if (buffer[d].Contains(part)) continue;
    return UserError("dimension ", d, " is used over ", ToString(part), ", the buffer has ",
                     ToString(buffer[d]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateOpaqueIndices(const program::Function& function) {
  const program::OpaqueCalls& opaque = function.opaque();
  if (FindOpaqueFunction(opaque.name()) == nullptr) {
    return UserError(NoOpaqueFunction(opaque.name()),
                     "; the program may be newer than this runtime");
  }
  std::vector<bool> named(function.indices_size(), false);
  YUBA_RETURN_IF_ERROR(Annotate(CheckIndices(opaque.result(), function, named), "result"));
  for (int i = 0; i < function.indices_size(); ++i) {
    if (!named[i] || !function.indices(i).reduction()) continue;
    return UserError("its result has the reduction index ", i);
  }
  for (int a = 0; a < opaque.arguments_size(); ++a) {
    YUBA_RETURN_IF_ERROR(
        Annotate(CheckIndices(opaque.arguments(a), function, named), absl::StrCat("argument ", a)));
  }
  if (std::count(named.begin(), named.end(), false) == 0) return absl::OkStatus();
  return UserError("an index runs along no dimension");
}

absl::Status ValidateOpaqueBoxes(const LoadedProgram& program, const program::Kernel& kernel,
                                 int device) {
  const program::Function& function = program.message().functions(kernel.function());
  const program::OpaqueCalls& opaque = function.opaque();
  const std::vector<bool> call_indices = CallIndices(function);
  bool calls = true;
  for (int i = 0; i < kernel.indices_size(); ++i) {
    if (call_indices[i]) calls &= !program.IntervalOf(kernel.indices(i), device).empty();
  }
  for (int i = 0; calls && i < kernel.indices_size(); ++i) {
    const Interval part = program.IntervalOf(kernel.indices(i), device);
    if (call_indices[i] || part == Interval{0, function.indices(i).extent()}) continue;
    return UserError("index ", i, " runs over ", ToString(part), " of ",
                     function.indices(i).extent(), ", but slices are whole along it");
  }
  for (int a = 0; a < opaque.arguments_size(); ++a) {
    const program::OpaqueTensor& argument = opaque.arguments(a);
    if (argument.operand() < 0 || argument.operand() >= kernel.operands_size()) {
      return UserError("argument ", a, " is operand ", argument.operand(), ", which is not there");
    }
    YUBA_RETURN_IF_ERROR(Annotate(
        CheckTensor(program, argument, kernel, kernel.operands(argument.operand()), device, calls),
        absl::StrCat("argument ", a)));
  }
  YUBA_RETURN_IF_ERROR(Annotate(
      CheckTensor(program, opaque.result(), kernel, kernel.results(0), device, calls), "result"));
  const OpaqueFunction* const known = FindOpaqueFunction(opaque.name());
  const std::string refused = known->why_not(SignatureOf(program, kernel));
  return refused.empty() ? absl::OkStatus()
                         : UserError("'", opaque.name(), "' cannot be called so: ", refused);
}

}  // namespace yuba::runtime
