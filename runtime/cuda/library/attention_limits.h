// What of attention cuDNN does not do, or not rightly, as far as is known of its versions.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_ATTENTION_LIMITS_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_ATTENTION_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/cuda/library/attention_routine.h"

namespace yuba::cuda {

// Whether cuDNN of `version`, as cudnnGetVersion() counts (91900), computes the routine rightly on
// a GPU of this compute capability (90: 9.0), and gradients alike in every run, as far as is known
// without asking it: the library itself checks neither alignments nor what it was wrong in, and its
// notes do not tell in which order it adds up. Unavailable where it is too old, Unimplemented where
// no version does. It may still have no engine for it.
absl::Status CheckAttention(const AttentionRoutine& routine, int64_t version, int capability);

// What cuDNN's routines of attention load at a time, bytes. With addresses and strides that are not
// multiples of it they are wrong on Hopper and stop on Ampere, says NVIDIA's cudnn-frontend
// (sdpa_support_surface.h); the library plans them all the same.
constexpr int64_t kAttentionLoad = 16;

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_ATTENTION_LIMITS_H_
