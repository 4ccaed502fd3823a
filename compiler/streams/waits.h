// What instructions wait for on the other stream.
#ifndef YUBA_COMPILER_STREAMS_WAITS_H_
#define YUBA_COMPILER_STREAMS_WAITS_H_

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Sets Instruction.after of the first instruction of each group (units.h): the last instruction
// before it, of the other stream, such that one of the two writes bytes of the arena that a member
// of the group reads or writes, and then the last of the group in which that is; 0 where that has
// been waited for already. Buffers must have their offsets.
void SetWaits(program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_STREAMS_WAITS_H_
