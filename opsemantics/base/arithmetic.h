// Costs are 64-bit integers, and a sum or product that does not fit is never wrong in silence.
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

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_ARITHMETIC_H_
