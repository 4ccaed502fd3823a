// The order of the elements of hash arithmetic, for max, min and comparison: interpreter, generated
// kernels and the runtime's reductions share it. Elements are ordered by a fixed bijective mix, not
// as integers (as integers relu would be the identity on half of them and commute with sums).
#ifndef YUBA_OPSEMANTICS_BASE_HASH_ORDER_H_
#define YUBA_OPSEMANTICS_BASE_HASH_ORDER_H_

#include <cstdint>

namespace yuba {

// Both odd, so that a product with them loses no information.
constexpr uint64_t kHashMinusInfinity = 0xd6e8feb86659fd93;
constexpr uint64_t kHashPlusInfinity = 0xe50a7ad7f273f539;

// Bijective; minus infinity has rank 0, plus infinity the largest. a orders before b where
// HashRank(a) < HashRank(b), unsigned.
constexpr uint64_t HashRank(uint64_t element) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  constexpr uint64_t kOrigin = 0x5030db8c7b7c1687;  // what minus infinity is multiplied to
  return (element ^ (element >> 32)) * kMultiplier - kOrigin;
}

static_assert(HashRank(kHashMinusInfinity) == 0, "minus infinity is the lowest");
static_assert(HashRank(kHashPlusInfinity) == ~uint64_t{0}, "plus infinity is the highest");

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_HASH_ORDER_H_
