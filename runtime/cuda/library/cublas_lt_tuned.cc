// The half of CublasLtMatmul that chooses its algorithm by a tuning.
#ifdef YUBA_WITH_CUDA
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/cuda/library/cublas_lt_bench.h"
#include "runtime/cuda/library/cublas_lt_matmul.h"
#include "runtime/cuda/library/cublas_lt_tuner.h"

namespace yuba::cuda {
namespace {

constexpr int kMostCandidates = 16;

struct Attribute {
  cublasLtMatmulAlgoConfigAttributes_t name;
  int64_t TunedAlgorithm::* member;
  enum { kInt32, kUint32, kUint16 } type;
};
// All but the algorithm's id, which it is made with.
constexpr Attribute kAttributes[] = {
    {CUBLASLT_ALGO_CONFIG_TILE_ID, &TunedAlgorithm::tile, Attribute::kUint32},
    {CUBLASLT_ALGO_CONFIG_STAGES_ID, &TunedAlgorithm::stages, Attribute::kUint32},
    {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &TunedAlgorithm::split_k, Attribute::kInt32},
    {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &TunedAlgorithm::reduction, Attribute::kUint32},
    {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, &TunedAlgorithm::swizzle, Attribute::kUint32},
    {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, &TunedAlgorithm::custom, Attribute::kUint32},
    {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, &TunedAlgorithm::inner_shape, Attribute::kUint16},
    {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, &TunedAlgorithm::cluster_shape, Attribute::kUint16},
};

template <typename Value>
absl::StatusOr<int64_t> GetAs(const CublasLt& library, const cublasLtMatmulAlgo_t& algorithm,
                              cublasLtMatmulAlgoConfigAttributes_t name) {
  Value value = 0;
  size_t written = 0;
  YUBA_CUDA(library.cublasLtMatmulAlgoConfigGetAttribute(&algorithm, name, &value, sizeof value,
                                                         &written));
  return static_cast<int64_t>(value);
}

absl::StatusOr<int64_t> Get(const CublasLt& library, const cublasLtMatmulAlgo_t& algorithm,
                            const Attribute& attribute) {
  switch (attribute.type) {
    case Attribute::kInt32: return GetAs<int32_t>(library, algorithm, attribute.name);
    case Attribute::kUint32: return GetAs<uint32_t>(library, algorithm, attribute.name);
    default: return GetAs<uint16_t>(library, algorithm, attribute.name);
  }
}

template <typename Value>
absl::Status SetAs(const CublasLt& library, cublasLtMatmulAlgo_t& algorithm,
                   cublasLtMatmulAlgoConfigAttributes_t name, int64_t number) {
  const auto value = static_cast<Value>(number);
  YUBA_CUDA(
      library.cublasLtMatmulAlgoConfigSetAttribute(&algorithm, name, &value, sizeof value));
  return absl::OkStatus();
}

absl::Status Set(const CublasLt& library, cublasLtMatmulAlgo_t& algorithm,
                 const Attribute& attribute, int64_t number) {
  switch (attribute.type) {
    case Attribute::kInt32: return SetAs<int32_t>(library, algorithm, attribute.name, number);
    case Attribute::kUint32: return SetAs<uint32_t>(library, algorithm, attribute.name, number);
    default: return SetAs<uint16_t>(library, algorithm, attribute.name, number);
  }
}

bool SameAlgorithm(const LtChoice& a, const LtChoice& b) {
  return std::memcmp(&a.algorithm, &b.algorithm, sizeof a.algorithm) == 0 &&
         a.workspace_bytes == b.workspace_bytes;
}

// An algorithm that can be restored from what is known of it, and what it takes.
struct Candidate {
  TunedAlgorithm known;
  LtChoice choice;
  double microseconds = 0;
};

// Of a call that fails where the GPU is well: another algorithm may do.
bool IsOfCall(const absl::Status& status, const absl::Status& called) {
  return !called.ok() && status == called;
}

}  // namespace

absl::StatusOr<TunedAlgorithm> CublasLtMatmul::Describe(
    const cublasLtMatmulAlgo_t& algorithm) const {
  TunedAlgorithm known;
  YUBA_ASSIGN_OR_RETURN(known.id,
                        GetAs<int32_t>(library_, algorithm, CUBLASLT_ALGO_CONFIG_ID));
  for (const Attribute& attribute : kAttributes) {
    YUBA_ASSIGN_OR_RETURN(known.*attribute.member, Get(library_, algorithm, attribute));
  }
  return known;
}

absl::StatusOr<LtChoice> CublasLtMatmul::Restore(const LtShape& shape,
                                                 const TunedAlgorithm& algorithm) const {
  if (!CanBeWritten(algorithm)) return absl::UnimplementedError("no run takes such an algorithm");
  LtChoice choice;
  const cudaDataType type = CudaType(shape.type), made = CudaType(shape.result_type);
  YUBA_CUDA(library_.cublasLtMatmulAlgoInit(
      handle_, ComputeType(shape), doubles_ ? CUDA_R_64F : CUDA_R_32F, type, type, made, made,
      static_cast<int>(algorithm.id), &choice.algorithm));
  for (const Attribute& attribute : kAttributes) {
    // Algorithms may refuse to be told of what they do not have, even that they do not have it.
    YUBA_ASSIGN_OR_RETURN(const int64_t number, Get(library_, choice.algorithm, attribute));
    if (number == algorithm.*attribute.member) continue;
    YUBA_RETURN_IF_ERROR(
        Set(library_, choice.algorithm, attribute, algorithm.*attribute.member));
  }
  cublasLtMatmulHeuristicResult_t checked = {};
  const LtMatrix& added = has_residual_ ? c_ : d_;
  YUBA_CUDA(library_.cublasLtMatmulAlgoCheck(handle_, product_.get(), b_.get(), a_.get(),
                                             added.get(), d_.get(), &choice.algorithm, &checked));
  YUBA_CUDA(checked.state);
  choice.workspace_bytes = static_cast<int64_t>(checked.workspaceSize);
  if (checked.workspaceSize > static_cast<size_t>(kLtWorkspaceLimit))
    return absl::UnimplementedError("the algorithm takes too much workspace");
  return choice;
}

// The fastest of what the heuristics name, as a median of several runs on operands of random
// numbers. An algorithm counts that can be restored from its configuration, so that what is timed
// is what later runs have, and that gives the same bits twice. NotFound where there is none;
// ResourceExhausted where the GPU has no room for the operands.
absl::StatusOr<TunedEntry> CublasLtMatmul::Fastest(const LtShape& shape, LtTuner& tuner) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<LtChoice> found, Heuristics(shape, kMostCandidates));
  LtBench bench(tuner.stream(), tuner.wait());
  YUBA_RETURN_IF_ERROR(bench.Open(shape, kLtWorkspaceLimit, 2 * tuner.cache_bytes()));
  absl::Status called;  // the last call of the library
  const LtBench::Start start = [&](const LtPointers& pointers, char* workspace) {
    called = Run(pointers, false, workspace, tuner.stream());
    return called;
  };
  chosen_ = found[0];
  YUBA_ASSIGN_OR_RETURN(const double first, bench.Microseconds(start));
  std::vector<Candidate> candidates;
  for (const LtChoice& named : found) {
    Candidate candidate;
    const absl::StatusOr<TunedAlgorithm> known = Describe(named.algorithm);
    if (!known.ok()) continue;
    const absl::StatusOr<LtChoice> choice = Restore(shape, *known);
    if (!choice.ok()) continue;
    chosen_ = *choice;
    const absl::StatusOr<double> time = SameAlgorithm(*choice, found[0])
                                            ? absl::StatusOr<double>(first)
                                            : bench.Microseconds(start);
    if (IsOfCall(time.status(), called)) continue;
    if (!time.ok()) return time.status();
    candidates.push_back({*known, *choice, *time});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.microseconds < b.microseconds; });
  for (const Candidate& candidate : candidates) {
    chosen_ = candidate.choice;
    YUBA_ASSIGN_OR_RETURN(const bool same, bench.SameBits(start));
    if (same) return TunedEntry{candidate.known, candidate.microseconds, first};
  }
  return absl::NotFoundError("no algorithm can be written down and gives the same bits twice");
}

absl::StatusOr<absl::optional<LtChoice>> CublasLtMatmul::ChooseTuned(const LtShape& shape,
                                                                     LtTuner& tuner) {
  Tuning& tuning = tuner.tuning();
  const TunedCall call = tuner.Key(shape);
  if (tuning.Find(call) == nullptr) {
    if (tuning.skipped().count(call) > 0) return absl::optional<LtChoice>();
    YUBA_RETURN_IF_ERROR(tuning.writable());
    const absl::StatusOr<TunedEntry> fastest = Fastest(shape, tuner);
    if (absl::IsNotFound(fastest.status()) || absl::IsResourceExhausted(fastest.status())) {
      tuning.Skip(call, std::string(fastest.status().message()));
      return absl::optional<LtChoice>();
    }
    if (!fastest.ok()) return fastest.status();
    tuning.Add(call, *fastest);
  }
  const absl::StatusOr<LtChoice> choice = Restore(shape, tuning.Find(call)->algorithm);
  if (!choice.ok()) {
    tuning.Refuse(call, std::string(choice.status().message()));
    return absl::optional<LtChoice>();
  }
  tuning.Use(call);
  return absl::make_optional(*choice);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
