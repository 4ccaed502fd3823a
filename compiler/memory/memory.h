// The memory of a program: when each buffer lives, and where it lies in the arena.
#ifndef YUBA_COMPILER_MEMORY_MEMORY_H_
#define YUBA_COMPILER_MEMORY_MEMORY_H_

#include <cstdint>
#include <string>

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// First, last, offset and size of each buffer, and the arena's size. Elements of floats are 8 bytes
// in hash arithmetic. `limit`: what the arena is to keep within, in bytes, so that less time is
// taken to make it smaller; 0: none.
void PlanMemory(program::Program& program, int64_t limit = 0);

struct ProgramMemory {
  int64_t arena = 0;       // bytes a device
  int64_t live_bound = 0;  // the largest sum of live slots at any instruction: no plan needs less
  int peak_instruction = 0;
};
ProgramMemory MeasureMemory(const program::Program& program);

// What one device really has live (its boxes, not the slots), in bytes, at its peak: parameters,
// inputs and outputs; activations; gather and made buffers. `at`: the node whose instruction it is.
struct DeviceUse {
  int64_t peak = 0, stored = 0, activations = 0, buffers = 0;
  std::string at;
};
DeviceUse MeasureDevice(const program::Program& program, int device);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MEMORY_MEMORY_H_
