#include "runtime/device.h"

namespace yuba::runtime {

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
