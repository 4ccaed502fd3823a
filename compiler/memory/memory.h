// The phase `memory`: when each buffer of a program lives, and at which offset it lies in the one
// arena that each device allocates. Offsets are equal on all devices, so a slot is as large as the
// largest device's box. Offsets are decided in arena.h; this file finds the lives and sizes and
// writes the result into the program. memory_use.h measures it.
//
// Example: two activations of 6,400 bytes, live from instruction 0 to 1 and from 2 to 3, get the
// same offset; a parameter lives from the first instruction to the last and shares with nobody.
#ifndef YUBA_COMPILER_MEMORY_MEMORY_H_
#define YUBA_COMPILER_MEMORY_MEMORY_H_

#include <cstdint>
#include <vector>

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Sets `first`, `last` (instructions, both included), `size` and `offset` (bytes) of each buffer,
// and the arena's size. A buffer that is initialized, an output, or used by no instruction lives
// throughout. Elements of floats have 8 bytes in hash arithmetic. `limit` is a size in bytes that
// the arena is to keep within: an arena that meets it is not made smaller; 0: none. The arena may
// be larger than the limit; the caller compares. Buffers marked `substitute` lie behind the arena,
// and do not count. runs_until: [instruction] the last one that may begin before it has ended,
// itself at least; empty where they run one after the other.
void PlanMemory(program::Program& program, int64_t limit = 0,
                const std::vector<int>& runs_until = {});

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MEMORY_MEMORY_H_
