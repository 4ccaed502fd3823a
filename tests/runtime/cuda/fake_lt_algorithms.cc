#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_lt_algorithms.h"

#include <algorithm>
#include <cstring>

namespace yuba::cuda {
namespace {

constexpr LtRow kRows[] = {
    {70, 10},
    {71, 6, CUBLASLT_REDUCTION_SCHEME_INPLACE, 2},  // named though nobody asks for such a scheme
    {72, 5, CUBLASLT_REDUCTION_SCHEME_NONE, 1, kLtWorkspaceBytes, LtRow::kHasOtherBits},
    {73, 3, CUBLASLT_REDUCTION_SCHEME_NONE, 1, size_t{64} << 20},
    {74, 4, CUBLASLT_REDUCTION_SCHEME_NONE, 1, kLtWorkspaceBytes, LtRow::kIsRefused},
    {75, 1, CUBLASLT_REDUCTION_SCHEME_NONE, 1, kLtWorkspaceBytes, LtRow::kFailsToStart},
    {76, 7, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, 2, 2 * kLtWorkspaceBytes},
    {77, 8},
};

// Gives `use` the member of the attribute, where there is one.
template <typename Algorithm, typename Use>
void WithMember(Algorithm& algorithm, cublasLtMatmulAlgoConfigAttributes_t name, const Use& use) {
  switch (name) {
    case CUBLASLT_ALGO_CONFIG_ID: return use(algorithm.id);
    case CUBLASLT_ALGO_CONFIG_TILE_ID: return use(algorithm.tile);
    case CUBLASLT_ALGO_CONFIG_SPLITK_NUM: return use(algorithm.split_k);
    case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME: return use(algorithm.reduction);
    case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING: return use(algorithm.swizzle);
    case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION: return use(algorithm.custom);
    case CUBLASLT_ALGO_CONFIG_STAGES_ID: return use(algorithm.stages);
    case CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID: return use(algorithm.inner_shape);
    case CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID: return use(algorithm.cluster_shape);
    default: break;
  }
}

}  // namespace

absl::Span<const LtRow> LtRows() { return kRows; }

const LtRow* FindLtRow(int32_t id) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows),
                                   [&](const LtRow& row) { return row.id == id; });
  return found == std::end(kRows) ? nullptr : found;
}

LtAlgorithm Configured(const LtRow& row) {
  LtAlgorithm algorithm;
  algorithm.id = row.id;
  algorithm.tile = 100 + static_cast<uint32_t>(row.id);
  algorithm.stages = 200 + static_cast<uint32_t>(row.id);
  algorithm.swizzle = 1;
  algorithm.custom = 3;
  algorithm.split_k = row.split_k;
  algorithm.reduction = row.reduction;
  return algorithm;
}

bool IsConfigured(const LtAlgorithm& algorithm, const LtRow& row) {
  const LtAlgorithm wanted = Configured(row);
  return algorithm.tile == wanted.tile && algorithm.stages == wanted.stages &&
         algorithm.swizzle == wanted.swizzle && algorithm.custom == wanted.custom &&
         algorithm.split_k == wanted.split_k && algorithm.reduction == wanted.reduction;
}

cublasStatus_t GetLtConfiguration(const cublasLtMatmulAlgo_t* made,
                                  cublasLtMatmulAlgoConfigAttributes_t name, void* value,
                                  size_t size, size_t* written) {
  cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE;
  WithMember(*reinterpret_cast<const LtAlgorithm*>(made), name, [&](const auto& member) {
    if (size != sizeof member) return;
    std::memcpy(value, &member, size);
    *written = size;
    status = CUBLAS_STATUS_SUCCESS;
  });
  return status;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
