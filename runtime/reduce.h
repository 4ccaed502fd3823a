// Combining partials of an exchange, bit for bit the same in every run: always in the order given,
// which is ascending by partial. It runs in the calling thread and allocates nothing large.
#ifndef YUBA_RUNTIME_REDUCE_H_
#define YUBA_RUNTIME_REDUCE_H_

#include <cstdint>
#include <vector>

#include "opsemantics/base/element_type.h"
#include "opsemantics/base/reducer.h"
#include "runtime/walk.h"

namespace yuba::runtime {

// The reducer, and how the elements of partials and result are represented.
struct Combination {
  Reducer reducer = Reducer::kNone;
  ElementType from = ElementType::kF32;  // of the partials
  ElementType to = ElementType::kF32;    // of the result: equal, or f16 or bf16 where `from` is f32
  bool hash = false;                     // floats are 8-byte elements of Z/2^64
};

// For each element of the walk: the first partial, combined with the second, and so on; without
// partials the reducer's identity. The walk's last buffer is `result`, the buffers before it are
// `parts`, one for each partial. One of `parts` may be the same memory as the result. With one
// partial the reducer may be anything; with more it must be one that combines (not NONE, ARGMAX or
// ARGMIN).
void CombineWalk(const Combination& combination, const BoxWalk& walk,
                 const std::vector<const char*>& parts, char* result);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_REDUCE_H_
