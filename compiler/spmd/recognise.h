// The phase `recognise`: finds the exchanges that equal a collective over some mesh axes, and says
// so in the program, so that back ends can call a library (NCCL) for them. The boxes of an exchange
// decide, not the plan: every group of devices that differ only on those axes must match the row of
// the collective (opsemantics/base/collectives.h).
//
// Example, axes a and b of size 2: a gather from [8/ab, 8] to [8/a, 8] is an all_gather over b; a
// gather from [8/a, 8] to [8, 8/a] an all_to_all over a; four partials of [8, 8] reduced into
// [8/ab, 8] a reduce_scatter over a and b.
#ifndef YUBA_COMPILER_SPMD_RECOGNISE_H_
#define YUBA_COMPILER_SPMD_RECOGNISE_H_

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Sets `collective` and `axes` of every exchange; none has them yet. Of several sets of axes over
// which an exchange is a collective, a smallest one is taken. No collective and no axes where it is
// none: for local copies, for exchanges within groups of devices, and for exchanges that only first
// owners offer. The meaning of an exchange does not change: a back end may run any mark as a plain
// exchange.
void RecogniseCollectives(program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_RECOGNISE_H_
