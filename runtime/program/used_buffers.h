// Which buffers instructions use, calls of a library included that stand for several of them.
#ifndef YUBA_RUNTIME_PROGRAM_USED_BUFFERS_H_
#define YUBA_RUNTIME_PROGRAM_USED_BUFFERS_H_

#include <vector>

#include "runtime/program/program.pb.h"

namespace yuba::program {

struct UsedBuffers {
  std::vector<int> reads, writes;  // in no order; a buffer may come several times
};

// [instruction]. What a call of attention uses beyond the operands and results of the kernels for
// which it stands is the first kernel's: the sums of rows, which the first call leaves for the
// second, and what the second call reads of the first (KeptOf in check_attention.h).
std::vector<UsedBuffers> UsedBuffersOf(const Program& program);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_USED_BUFFERS_H_
