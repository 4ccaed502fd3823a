// Arithmetic on single elements, in both kinds of arithmetic: what the interpreter is made of.
#ifndef YUBA_OPSEMANTICS_ORACLE_SCALAR_H_
#define YUBA_OPSEMANTICS_ORACLE_SCALAR_H_

#include <cstdint>

#include "opsemantics/definition/definition.h"

namespace yuba {

// kFloat: floats are computed in double and rounded to their type when stored; integers in 64 bits.
// kHash: float tensors are elements of Z/2^64 (hash_arithmetic.h); integer tensors stay integers.
enum class Arithmetic : uint8_t { kFloat, kHash };

// One element: a float's value, an integer (also a bool's 0 or 1), or an element of Z/2^64.
union Scalar {
  double number;
  int64_t integer;
  uint64_t hash;
};

// The value of a float literal of type `type`, rounded to it.
Scalar FloatLiteral(double number, ElementType type, Arithmetic arithmetic);

// From one type to another. Floats to integers: toward zero, what is too large becomes the largest,
// NaN becomes 0. Integers to narrower ones: the low bits. To bool: whether it is not 0.
Scalar Convert(Scalar value, ElementType from, ElementType to, Arithmetic arithmetic);

// `function` of `args`, all of type `type` (kNot, kAnd, kOr: bools); not kSelect, kCast.
// Comparisons give bools. Integers: division is toward zero, by zero gives 0.
Scalar Apply(Function function, ElementType type, Arithmetic arithmetic, const Scalar* args);

// `function` on one or two doubles.
double ApplyToNumbers(Function function, double a, double b);

// What a reducer starts from, and one step of it, on values of type `type`.
Scalar Identity(Reducer reducer, ElementType type, Arithmetic arithmetic);
Scalar ReduceStep(Reducer reducer, ElementType type, Arithmetic arithmetic, Scalar a, Scalar b);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ORACLE_SCALAR_H_
