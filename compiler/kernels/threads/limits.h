// From which sizes on the threads of a GPU share out work in one way or another.
#ifndef YUBA_COMPILER_KERNELS_THREADS_LIMITS_H_
#define YUBA_COMPILER_KERNELS_THREADS_LIMITS_H_

#include <cstdint>

#include "opsemantics/base/reducer.h"

namespace yuba::kernels {

constexpr int kAccessBytes = 16;  // the widest access of a thread
constexpr int kMostLanes = 8;     // elements of a byte would be 16: too many registers of f32
constexpr int kMostThreads = 1024;
constexpr int64_t kMostSharedBytes = 48 << 10;  // of a block, where nobody asks the driver for more
// With fewer threads than this, of one point each, GPUs are idle: 132 multiprocessors with a block.
constexpr int64_t kEnoughBlocks = 132;
constexpr int64_t kEnoughThreads = kEnoughBlocks * 256;
// A sum of fewer elements than this is too short for a second kernel.
constexpr int64_t kLongSum = 1 << 18;
// One of more is shared out over all multiprocessors, also where each thread has few accesses then.
constexpr int64_t kLongestSum = 1000000;
// A reduction along what lies side by side in memory is shared out anyhow, another one only where
// so few results would leave the GPU idle.
constexpr int64_t kFewResults = 16384;
// In a kernel with rows a thread computes an element of a row alone that is a sum of so many terms.
constexpr int64_t kMostTurnsAlone = 64;
// A group takes so many accesses of a row a thread, where the row is that long.
constexpr int64_t kAccessesEach = 4;

// Whether threads can share out a reduction and combine what they have.
inline bool IsShared(Reducer reducer) {
  return reducer != Reducer::kNone && reducer != Reducer::kPick;
}

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_THREADS_LIMITS_H_
