// The half of CublasLtMatmul that chooses its algorithm by a tuning.
#ifdef YUBA_WITH_CUDA
#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/cuda/library/cublas_lt_bench.h"
#include "runtime/cuda/library/cublas_lt_matmul.h"
#include "runtime/cuda/library/cublas_lt_tuner.h"

namespace yuba::cuda {
namespace {

constexpr int kMostCandidates = 16;
static_assert(sizeof(cublasLtMatmulAlgo_t) == kAlgorithmBytes, "a tuning has all of it");

struct Attribute {
  cublasLtMatmulAlgoConfigAttributes_t name;
  int64_t TunedAlgorithm::* member;
  enum { kInt32, kUint32, kUint16 } type;
};
constexpr Attribute kAttributes[] = {
    {CUBLASLT_ALGO_CONFIG_ID, &TunedAlgorithm::id, Attribute::kInt32},
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

}  // namespace

absl::StatusOr<TunedAlgorithm> CublasLtMatmul::DescribeAlgorithm(
    const cublasLtMatmulAlgo_t& algorithm) const {
  TunedAlgorithm known;
  for (const Attribute& attribute : kAttributes) {
    YUBA_ASSIGN_OR_RETURN(known.*attribute.member, Get(library_, algorithm, attribute));
  }
  known.bytes.assign(reinterpret_cast<const char*>(&algorithm), sizeof algorithm);
  return known;
}

absl::StatusOr<LtChoice> CublasLtMatmul::Restore(const TunedAlgorithm& algorithm) const {
  if (!CanBeWritten(algorithm)) return absl::UnimplementedError("no run takes such an algorithm");
  LtChoice choice;
  std::memcpy(&choice.algorithm, algorithm.bytes.data(), sizeof choice.algorithm);
  YUBA_ASSIGN_OR_RETURN(const TunedAlgorithm described, DescribeAlgorithm(choice.algorithm));
  if (!(described == algorithm))
    return absl::UnimplementedError("the library describes the algorithm otherwise");
  cublasLtMatmulHeuristicResult_t checked = {};
  const LtMatrix& added = has_residual_ ? c_ : d_;
  YUBA_CUDA(library_.cublasLtMatmulAlgoCheck(handle_, product_.get(), b_.get(), a_.get(),
                                             added.get(), d_.get(), &choice.algorithm, &checked));
  YUBA_CUDA(checked.state);
  if (checked.workspaceSize > static_cast<size_t>(kLtWorkspaceLimit))
    return absl::UnimplementedError("the algorithm takes too much workspace");
  choice.workspace_bytes = static_cast<int64_t>(checked.workspaceSize);
  return choice;
}

// The fastest of what the heuristics name and a run may have, as a median of several runs on
// operands of random numbers: of those that can be restored from what a tuning has of them, and
// that give the same bits twice. NotFound where there is none; ResourceExhausted where the GPU has
// no room for the operands.
absl::StatusOr<TunedEntry> CublasLtMatmul::Fastest(const LtShape& shape, LtTuner& tuner) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<LtChoice> found, Heuristics(shape, kMostCandidates));
  LtBench bench(tuner.stream(), tuner.wait());
  YUBA_RETURN_IF_ERROR(bench.Open(shape, kLtWorkspaceLimit, 2 * tuner.cache_bytes()));
  absl::Status called;  // the last call of the library
  const auto start_of = [&](const LtChoice& choice) -> LtBench::Start {
    return [this, choice, &called, &tuner](const LtPointers& pointers, char* workspace) {
      chosen_ = choice;
      called = Run(pointers, false, workspace, tuner.stream());
      return called;
    };
  };
  std::vector<TunedEntry> entries;
  std::vector<LtBench::Start> starts = {start_of(found[0])};  // as it is; then those of entries
  YUBA_RETURN_IF_ERROR(bench.WarmUp(starts[0]));
  for (const LtChoice& named : found) {
    const absl::StatusOr<TunedAlgorithm> known = DescribeAlgorithm(named.algorithm);
    if (!known.ok()) continue;
    const absl::StatusOr<LtChoice> choice = Restore(*known);
    if (!choice.ok()) continue;
    const LtBench::Start start = start_of(*choice);
    const absl::Status warm = bench.WarmUp(start);
    if (!called.ok()) continue;  // the library does not start it; another one may do
    YUBA_RETURN_IF_ERROR(warm);
    entries.push_back({*known, 0, 0});
    starts.push_back(start);
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<double> times, bench.Microseconds(starts));
  std::vector<size_t> order(entries.size());  // of entries, the fastest first
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return times[a + 1] < times[b + 1]; });
  for (const size_t e : order) {
    YUBA_ASSIGN_OR_RETURN(const bool same, bench.SameBits(starts[e + 1]));
    if (same) return TunedEntry{entries[e].algorithm, times[e + 1], times[0]};
  }
  return absl::NotFoundError("no algorithm can be kept and gives the same bits twice");
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
  const absl::StatusOr<LtChoice> choice = Restore(tuning.Find(call)->algorithm);
  if (!choice.ok()) {
    tuning.Refuse(call, std::string(choice.status().message()));
    return absl::optional<LtChoice>();
  }
  tuning.Use(call);
  return absl::make_optional(*choice);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
