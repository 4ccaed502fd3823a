// Arithmetic on single elements, in floats and in hash arithmetic: what the interpreter is made of.
// A Scalar does not know its type or its arithmetic; each function is told both.
#ifndef YUBA_OPSEMANTICS_ORACLE_SCALAR_H_
#define YUBA_OPSEMANTICS_ORACLE_SCALAR_H_

#include <cstdint>

#include "opsemantics/definition/definition.h"

namespace yuba {

// kFloat: floats are computed in double and rounded to their type when stored; integers in 64 bits,
// of which those of a u64 have no sign.
// kHash: float tensors are elements of Z/2^64 (hash_arithmetic.h); integer tensors stay integers.
enum class Arithmetic : uint8_t { kFloat, kHash };

// One element. Tensors of integers and bools use `integer` in both arithmetics.
union Scalar {
  double number;    // a float in kFloat
  int64_t integer;  // an integer, or a bool's 0 or 1
  uint64_t hash;    // a float in kHash: an element of Z/2^64
};

// The element of a float literal of type `type`; it is rounded to the type first.
Scalar FloatLiteral(double number, ElementType type, Arithmetic arithmetic);

// The value in another type. Floats to integers: toward zero; what is too large becomes the largest
// integer, what is too small the least, and NaN becomes 0. Integers to narrower integers: the low
// bits. To bool: whether it is not 0. In kHash floats and integers convert with the same 64 bits.
Scalar Convert(Scalar value, ElementType from, ElementType to, Arithmetic arithmetic);

// `function` of `args`, which are all of type `type` (of kNot, kAnd and kOr: bools) and as many as
// it takes; kSelect, kCast and kRandom are not done here. Comparisons give bools. Integers: sums
// and products wrap, division is toward zero, and division by zero gives 0.
Scalar Apply(Function function, ElementType type, Arithmetic arithmetic, const Scalar* args);

// kRandom of key, count and element, each an i64: an f32 (philox.h).
Scalar RandomNumber(const Scalar* args, Arithmetic arithmetic);

// The value that a reducer starts from, and one step of it, `a` combined with `b`; on values of
// type `type`. ReduceStep of kNone, kArgMax and kArgMin is `b`.
Scalar Identity(Reducer reducer, ElementType type, Arithmetic arithmetic);
Scalar ReduceStep(Reducer reducer, ElementType type, Arithmetic arithmetic, Scalar a, Scalar b);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ORACLE_SCALAR_H_
