// A program without some of its buffers.
#ifndef YUBA_COMPILER_SPMD_DROP_BUFFERS_H_
#define YUBA_COMPILER_SPMD_DROP_BUFFERS_H_

#include <set>

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Takes these buffers, which no instruction and no port uses, out of the program, and gives the
// others their new numbers. Internal tensors of kernels had buffers as long as it was not known
// that nothing else reads them.
void DropBuffers(const std::set<int>& unused, program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_DROP_BUFFERS_H_
