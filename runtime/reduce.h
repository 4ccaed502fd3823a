// Combining partial results, bit for bit the same in every run: parts in the order given.
#ifndef YUBA_RUNTIME_REDUCE_H_
#define YUBA_RUNTIME_REDUCE_H_

#include <cstdint>
#include <vector>

#include "opsemantics/base/element_type.h"
#include "opsemantics/base/reducer.h"
#include "runtime/walk.h"

namespace yuba::runtime {

// How the elements of parts and result are represented.
struct Combination {
  Reducer reducer = Reducer::kNone;
  ElementType from = ElementType::kF32;  // of the parts
  ElementType to = ElementType::kF32;    // of the result: equal, or f16 or bf16 where `from` is f32
  bool hash = false;                     // floats are 8-byte elements of Z/2^64
};

// For each element of the walk: the first part, combined with the second, ...; without parts the
// reducer's identity. The walk's last buffer is the result, those before it are the parts. A part
// may be the same memory as the result. With one part the reducer may be anything.
void CombineWalk(const Combination& combination, const BoxWalk& walk,
                 const std::vector<const char*>& parts, char* result);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_REDUCE_H_
