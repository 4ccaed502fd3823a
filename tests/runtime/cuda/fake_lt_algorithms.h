// The algorithms of the fake cuBLASLt: what each does and takes, and how it is configured.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_LT_ALGORITHMS_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_LT_ALGORITHMS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "runtime/cuda/libraries.h"

namespace yuba::cuda {

constexpr size_t kLtWorkspaceBytes = 512;  // of most algorithms

struct LtRow {
  int32_t id;
  double microseconds;  // that it takes
  uint32_t reduction = CUBLASLT_REDUCTION_SCHEME_NONE;
  int32_t split_k = 1;
  size_t workspace = kLtWorkspaceBytes;  // bytes, which it fills
  enum { kRuns, kIsRefused, kFailsToStart, kHasOtherBits } does = kRuns;
};

// In the order in which heuristics name them, the first the one that runs without a tuning. Some
// are fast and none for a run: what is configured so that sums have no order, whose workspace is
// too large, that the library refuses when it is checked, that fails, and that has other
// bits each time. The best that is left is 76.
absl::Span<const LtRow> LtRows();
// Null: there is none.
const LtRow* FindLtRow(int32_t id);

// In an algorithm's bytes: what it was chosen for, and its configuration.
struct LtAlgorithm {
  uint32_t alignments[4] = {1, 1, 1, 1};  // of A, B, C and D
  uint32_t bias_alignment = 1, aux_alignment = 1;
  int32_t id = 0, split_k = 1;
  uint32_t tile = 0, stages = 0, reduction = 0, swizzle = 0, custom = 0;
  uint16_t inner_shape = 0, cluster_shape = 0;
};
static_assert(sizeof(LtAlgorithm) <= sizeof(cublasLtMatmulAlgo_t), "it is kept there");

LtAlgorithm Configured(const LtRow& row);
// Whether nothing of the configuration was lost.
bool IsConfigured(const LtAlgorithm& algorithm, const LtRow& row);

// The library's function.
cublasStatus_t GetLtConfiguration(const cublasLtMatmulAlgo_t* made,
                                  cublasLtMatmulAlgoConfigAttributes_t name, void* value,
                                  size_t size, size_t* written);

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_LT_ALGORITHMS_H_
