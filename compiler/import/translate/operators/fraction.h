// Fractions of integers, for places that must be exact: a place in the middle of two elements goes
// to one of them, so rounding before would choose.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_FRACTION_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_FRACTION_H_

#include <cstdint>

namespace yuba::onnx {

// over / under in lowest terms, both below kLargestTerm in size; under is positive, or 0 where the
// fraction does not fit. What is computed from one that does not fit does not fit either.
struct Fraction {
  int64_t over = 0, under = 1;

  bool fits() const { return under > 0; }
  double number() const { return static_cast<double>(over) / static_cast<double>(under); }
};
constexpr int64_t kLargestTerm = int64_t{1} << 31;  // so that sums of two products are exact

// Of any two integers.
Fraction Quotient(int64_t over, int64_t under);
inline Fraction Whole(int64_t integer) { return Quotient(integer, 1); }

Fraction operator+(const Fraction& a, const Fraction& b);
Fraction operator-(const Fraction& a, const Fraction& b);
Fraction operator*(const Fraction& a, const Fraction& b);
Fraction operator/(const Fraction& a, const Fraction& b);
bool operator==(const Fraction& a, const Fraction& b);
bool operator<(const Fraction& a, const Fraction& b);

// What a number of a file is taken for: the fraction with the least terms that an f32 rounds to it.
// Of 0.6f, which is 0.60000002, that is 3/5.
Fraction Meant(double number);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_FRACTION_H_
