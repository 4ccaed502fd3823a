// How well the pointers that a call gives to a library are aligned. Libraries choose code by it, so
// that it decides bits too: it follows from the program alone.
//
// Example: CommonAlignment({64, 24}) is 8: addresses 64 and 64 + 24, from one aligned to 256.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_ALIGNMENT_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_ALIGNMENT_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "runtime/contraction.h"

namespace yuba::cuda {

constexpr int64_t kMostAlignment = 256;  // bytes: cudaMalloc's

inline int64_t Aligned(int64_t bytes) {  // up to a multiple of kMostAlignment
  return (bytes + kMostAlignment - 1) / kMostAlignment * kMostAlignment;
}

// The largest power of two, kMostAlignment at most, that divides all offsets (bytes).
inline int64_t CommonAlignment(std::initializer_list<int64_t> offsets) {
  int64_t bits = kMostAlignment;
  for (const int64_t offset : offsets) bits |= offset;
  return bits & -bits;
}

// Of the pointers that steps of `loops` give, the first one of which is `begin` bytes from an
// address aligned to 256. `step` is the member of a loop that counts elements of this tensor.
inline int64_t AlignmentOf(int64_t begin, int64_t element_bytes,
                           std::initializer_list<const std::vector<runtime::StridedIndex>*> loops,
                           int64_t runtime::StridedIndex::* step) {
  int64_t alignment = CommonAlignment({begin});
  for (const auto* indices : loops) {
    for (const runtime::StridedIndex& index : *indices)
      alignment = CommonAlignment({alignment, index.*step * element_bytes});
  }
  return alignment;
}

// The same, of pointers into the buffer of a post-op's operand, of that number (contraction.h).
inline int64_t AlignmentOfPost(int64_t begin, int64_t element_bytes,
                               const std::vector<runtime::StridedIndex>& loops, int number) {
  int64_t alignment = CommonAlignment({begin});
  for (const runtime::StridedIndex& loop : loops)
    alignment = CommonAlignment({alignment, loop.post[number] * element_bytes});
  return alignment;
}

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_ALIGNMENT_H_
