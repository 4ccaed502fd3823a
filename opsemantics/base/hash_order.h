// The part of hash arithmetic that the runtime needs too (opsemantics/oracle/hash_arithmetic.h
// explains hash arithmetic and is the rest of it). An element is a 64-bit integer that stands for a
// float. Here are the order of elements, for max, min and comparisons; the mixing function; and the
// element of a float literal. The order is that of a fixed bijective mix, not that of integers: as
// integers, relu would be the identity on half of the elements and would commute with sums.
#ifndef YUBA_OPSEMANTICS_BASE_HASH_ORDER_H_
#define YUBA_OPSEMANTICS_BASE_HASH_ORDER_H_

#include <cstdint>
#include <cstring>
#include <limits>

namespace yuba {

// The elements of -inf and +inf. Both are odd, so that a product with them loses no information.
constexpr uint64_t kHashMinusInfinity = 0xd6e8feb86659fd93;
constexpr uint64_t kHashPlusInfinity = 0xe50a7ad7f273f539;

// The place of an element in the order: a is below b where HashRank(a) < HashRank(b), unsigned.
// Bijective; minus infinity has rank 0, plus infinity the largest rank.
constexpr uint64_t HashRank(uint64_t element) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  constexpr uint64_t kOrigin = 0x5030db8c7b7c1687;  // what minus infinity is multiplied to
  return (element ^ (element >> 32)) * kMultiplier - kOrigin;
}

static_assert(HashRank(kHashMinusInfinity) == 0, "minus infinity is the lowest");
static_assert(HashRank(kHashPlusInfinity) == ~uint64_t{0}, "plus infinity is the highest");

// A mixing function: another salt is another function. Its results are odd, so that a product with
// a result loses no information.
constexpr uint64_t HashMix(uint64_t element, uint64_t salt) {
  uint64_t mixed = element + salt;
  mixed ^= mixed >> 30;
  mixed *= 0x94d049bb133111eb;
  mixed ^= mixed >> 27;
  mixed *= 0xd6e8feb86659fd93;
  mixed ^= mixed >> 32;
  return mixed | 1;
}

// The element of a float literal: integers are themselves, infinities are the two constants above,
// and other numbers mix their bits as f64.
inline uint64_t HashOf(double value) {
  if (value == std::numeric_limits<double>::infinity()) return kHashPlusInfinity;
  if (value == -std::numeric_limits<double>::infinity()) return kHashMinusInfinity;
  if (value > -9.2e18 && value < 9.2e18 &&
      value == static_cast<double>(static_cast<int64_t>(value))) {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return HashMix(bits, 0);
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_HASH_ORDER_H_
