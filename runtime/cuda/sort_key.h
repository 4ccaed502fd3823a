// The order of elements as that of unsigned integers, their keys: what comes first in a sort has
// the smaller key, equal elements have equal ones. -0 equals 0, a NaN is above all numbers and
// equals other NaNs: the order of opsemantics/opaque/argsort.h, in as few bytes as the type has.
//
// Example: SortKey(-1.0f) < SortKey(-0.0f) == SortKey(0.0f) < SortKey(1.0f) < SortKey(NaN).
#ifndef YUBA_RUNTIME_CUDA_SORT_KEY_H_
#define YUBA_RUNTIME_CUDA_SORT_KEY_H_

#include <cstdint>

#include "opsemantics/base/hash_order.h"

namespace yuba::cuda {

namespace sort_key {

// The bits of positive numbers ascend, those of negative ones descend.
template <typename Key, typename Float>
constexpr Key OfFloat(Float value) {
  constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
  if (value != value) return static_cast<Key>(~Key{0});  // NOLINT(misc-redundant-expression): NaN
  if (value == 0) return kSign;                          // -0 too
  const Key bits = __builtin_bit_cast(Key, value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

}  // namespace sort_key

constexpr uint64_t SortKey(double value) { return sort_key::OfFloat<uint64_t>(value); }
constexpr uint32_t SortKey(float value) { return sort_key::OfFloat<uint32_t>(value); }
constexpr uint64_t SortKey(int64_t value) {
  return static_cast<uint64_t>(value) ^ uint64_t { 1 } << 63;
}
constexpr uint32_t SortKey(int32_t value) {
  return static_cast<uint32_t>(value) ^ uint32_t { 1 } << 31;
}
constexpr uint32_t SortKey(bool value) { return value ? 1 : 0; }
// Of an element of hash arithmetic.
constexpr uint64_t HashSortKey(uint64_t element) { return HashRank(element); }

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_SORT_KEY_H_
