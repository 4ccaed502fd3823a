// Which operands of library calls stay the same between steps, so that the library's own form of
// them may be made once and kept: parameters and constants that no instruction writes, and what the
// entry `init` makes of them.
#ifndef YUBA_RUNTIME_HOST_KEPT_OPERANDS_H_
#define YUBA_RUNTIME_HOST_KEPT_OPERANDS_H_

#include <vector>

#include "runtime/device.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// Whether the instruction is one of the entry `init`, which runs before others.
bool IsOfInit(const LoadedProgram& program, int instruction);

// [buffer]: whether it is the buffer of a parameter whose bytes no kernel and no exchange writes in
// a step. What lies in its slot then changes only by Device::Write and Device::Fill, and by
// instructions of the entry `init`. Buffers that share bytes with one that is written are not kept.
std::vector<bool> KeptBuffers(const LoadedProgram& program, const ArenaLayout& layout);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_KEPT_OPERANDS_H_
