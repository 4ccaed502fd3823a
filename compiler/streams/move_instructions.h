// Another order of a program's instructions.
#ifndef YUBA_COMPILER_STREAMS_MOVE_INSTRUCTIONS_H_
#define YUBA_COMPILER_STREAMS_MOVE_INSTRUCTIONS_H_

#include <vector>

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// order: [new position] the old one; within each entry a permutation, in which what one call stands
// for stays together. Numbers of instructions in attention and joint calls follow. Lives and
// offsets of buffers, `after` and `joins` are of the old order: who calls this makes them again.
void MoveInstructions(const std::vector<int>& order, program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_STREAMS_MOVE_INSTRUCTIONS_H_
