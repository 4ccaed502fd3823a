#include "runtime/device.h"

#include "opsemantics/base/status.h"

namespace yuba::runtime {
namespace {

// The name of the tensor of which a buffer holds a box: of what is gathered into it, its source.
std::string TensorIn(const LoadedProgram& program, int buffer) {
  for (const Instruction& instruction : program.instructions()) {
    if (instruction.exchange != nullptr && instruction.exchange->destination() == buffer)
      return instruction.exchange->tensor();
  }
  return program.stage().buffers(buffer).name();
}

std::string TensorAt(const LoadedProgram& program, const program::Kernel& kernel, int64_t place) {
  if (place < 0) return "what it computes";
  if (place < kernel.operands_size())
    return TensorIn(program, kernel.operands(static_cast<int>(place)).buffer());
  place -= kernel.operands_size();
  if (place < kernel.results_size())
    return TensorIn(program, kernel.results(static_cast<int>(place)).buffer());
  place -= kernel.results_size();
  return kernel.internals(static_cast<int>(place)).name();
}

}  // namespace

absl::Status BadIndexError(const LoadedProgram& program, int instruction,
                           const IndexRecord& record) {
  const program::Kernel& kernel = *program.instructions()[instruction].kernel;
  return UserError(TensorAt(program, kernel, record.tensor), " holds ", record.index,
                   ", which is no index into ", record.extent, " elements (", -record.extent,
                   " to ", record.extent - 1, ")");
}

Launch LaunchOf(const LoadedProgram& program, const ArenaLayout& layout, int instruction,
                int device) {
  const program::Kernel& kernel = *program.instructions()[instruction].kernel;
  Launch launch;
  launch.function = kernel.function();
  auto add_interval = [&](const Interval& interval, int64_t second) {
    launch.arguments.push_back(interval.begin);
    launch.arguments.push_back(second);
  };
  for (const program::Range& range : kernel.indices()) {
    const Interval part = program.IntervalOf(range, device);
    add_interval(part, part.end);
  }
  auto add_buffer = [&](int buffer) {
    launch.offsets.push_back(layout.offsets[buffer]);
    for (const Interval& interval : program.BufferBox(buffer, device)) {
      add_interval(interval, interval.size());
    }
  };
  for (const program::Access& operand : kernel.operands()) add_buffer(operand.buffer());
  for (const program::Access& result : kernel.results()) add_buffer(result.buffer());
  return launch;
}

}  // namespace yuba::runtime
