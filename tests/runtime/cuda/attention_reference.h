// Attention and its gradients computed directly, in doubles.
#ifndef YUBA_TESTS_RUNTIME_CUDA_ATTENTION_REFERENCE_H_
#define YUBA_TESTS_RUNTIME_CUDA_ATTENTION_REFERENCE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/cuda/library/attention_routine.h"

namespace yuba::cuda {

// A tensor of four dimensions, row-major.
struct Array4 {
  std::array<int64_t, 4> extents = {};
  std::vector<double> values;

  static Array4 Of(const std::array<int64_t, 4>& extents) {
    Array4 made;
    made.extents = extents;
    made.values.resize(extents[0] * extents[1] * extents[2] * extents[3]);
    return made;
  }
  double& At(int64_t a, int64_t b, int64_t c, int64_t d) {
    return values[((a * extents[1] + b) * extents[2] + c) * extents[3] + d];
  }
  double At(int64_t a, int64_t b, int64_t c, int64_t d) const {
    return const_cast<Array4*>(this)->At(a, b, c, d);
  }
};

// The operands of a routine. Of the bias the extents are 1 where it is the same for all.
using AttentionArrays = std::array<Array4, kAttentionOperands>;

// Computes o and the statistics from q, k, v and the bias; backward the gradients too, from do.
void ComputeAttention(const AttentionRoutine& routine, AttentionArrays& arrays);

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_ATTENTION_REFERENCE_H_
