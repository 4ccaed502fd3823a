// Two exchanges that a library may do as one all-reduce.
#ifndef YUBA_RUNTIME_PROGRAM_ALL_REDUCE_H_
#define YUBA_RUNTIME_PROGRAM_ALL_REDUCE_H_

#include "runtime/program/program.pb.h"

namespace yuba::program {

// Whether instruction `sum` is a reduce_scatter and the next one gathers what it has added up, over
// the same mesh axes and in the same buffer.
bool IsAllReduce(const Program& program, int sum);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_ALL_REDUCE_H_
