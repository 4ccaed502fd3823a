// Checked 64-bit arithmetic. Bytes, elements and costs are int64_t everywhere; a sum or product
// that does not fit ends the program with a message (CHECK) instead of being wrong in silence.
// Numbers that a user's file can make too large are tested before they come here.
#ifndef YUBA_OPSEMANTICS_BASE_ARITHMETIC_H_
#define YUBA_OPSEMANTICS_BASE_ARITHMETIC_H_

#include <cstdint>

#include "opsemantics/base/check.h"

namespace yuba {

inline int64_t CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  YUBA_CHECK(!__builtin_add_overflow(a, b, &sum)) << a << " + " << b << " overflows";
  return sum;
}

inline int64_t CheckedMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  YUBA_CHECK(!__builtin_mul_overflow(a, b, &product)) << a << " * " << b << " overflows";
  return product;
}

// The quotient rounded down, and up: FloorDiv(-1, 4) is -1, CeilDiv(-1, 4) is 0. b is not 0.
constexpr int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return -FloorDiv(-a, b); }
// What FloorDiv leaves: a - FloorDiv(a, b) * b, with the sign of b.
constexpr int64_t FloorMod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_ARITHMETIC_H_
