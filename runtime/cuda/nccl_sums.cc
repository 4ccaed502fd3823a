#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/nccl_sums.h"

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace yuba::cuda {
namespace {

absl::optional<ncclDataType_t> UnsignedOf(int64_t bytes) {
  switch (bytes) {
    case 1: return ncclUint8;
    case 4: return ncclUint32;
    case 8: return ncclUint64;
    default: return absl::nullopt;
  }
}

// Of elements as they are; -1: none of NCCL's.
absl::optional<ncclDataType_t> TypeOf(ElementType type) {
  switch (type) {
    case ElementType::kF64: return ncclFloat64;
    case ElementType::kF32: return ncclFloat32;
    case ElementType::kI64: return ncclInt64;
    case ElementType::kI32: return ncclInt32;
    case ElementType::kI8: return ncclInt8;
    case ElementType::kU8: return ncclUint8;
    case ElementType::kU32: return ncclUint32;
    case ElementType::kU64: return ncclUint64;
    default: return absl::nullopt;
  }
}

absl::optional<ncclRedOp_t> ReducerOf(Reducer reducer) {
  switch (reducer) {
    case Reducer::kSum:
    case Reducer::kPick: return ncclSum;  // of integers, whose bits are the picked one's
    case Reducer::kProd: return ncclProd;
    case Reducer::kMax: return ncclMax;
    case Reducer::kMin: return ncclMin;
    default: return absl::nullopt;
  }
}

}  // namespace

absl::optional<NcclReduction> NcclReductionOf(const runtime::Combination& combination) {
  const bool is_float = IsFloat(combination.from);
  const bool hash = combination.hash && is_float;
  const bool picks = combination.reducer == Reducer::kPick;
  const bool orders = combination.reducer == Reducer::kMax || combination.reducer == Reducer::kMin;
  const absl::optional<ncclRedOp_t> reducer = ReducerOf(combination.reducer);
  const absl::optional<ncclDataType_t> type = hash    ? ncclUint64
                                              : picks ? UnsignedOf(ByteSize(combination.from))
                                                      : TypeOf(combination.from);
  if (!reducer.has_value() || !type.has_value() || (orders && is_float)) return absl::nullopt;
  return NcclReduction{*type, *reducer, hash || picks || !is_float};
}

bool NcclAddsUp(Sums sums, const runtime::Combination& combination) {
  const absl::optional<NcclReduction> reduction = NcclReductionOf(combination);
  return reduction.has_value() && (reduction->exact || sums != Sums::kOrdered);
}

std::string SetNcclEnvironment(Sums sums) {
  if (sums != Sums::kRepeatable) return "";
  setenv("NCCL_ALGO", "Ring", 0);
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  const char* const algorithm = std::getenv("NCCL_ALGO");
  if (algorithm == nullptr || absl::EqualsIgnoreCase(algorithm, "ring")) return "";
  return absl::StrCat("NCCL_ALGO=", algorithm,
                      " is set, so runs may add up in other orders than "
                      "each other, although --sums is repeatable");
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
