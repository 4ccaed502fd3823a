#include "compiler/import/translate/operators/fraction.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace yuba::onnx {
namespace {

// The fraction with the least terms between two positive numbers.
Fraction Simplest(double low, double high) {
  const double whole = std::floor(low);
  if (!(whole < static_cast<double>(kLargestTerm))) return {0, 0};
  if (whole == low) return Whole(static_cast<int64_t>(whole));
  if (whole + 1 <= high) return Whole(static_cast<int64_t>(whole) + 1);
  const Fraction rest = Simplest(1 / (high - whole), 1 / (low - whole));
  return Whole(static_cast<int64_t>(whole)) + Quotient(rest.under, rest.over);
}

}  // namespace

Fraction Quotient(int64_t over, int64_t under) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();  // has no gcd
  if (under == 0 || over == kLeast || under == kLeast) return {0, 0};
  const int64_t by = under < 0 ? -std::gcd(over, under) : std::gcd(over, under);
  const Fraction result{over / by, under / by};
  const bool fits = std::abs(result.over) < kLargestTerm && result.under < kLargestTerm;
  return fits ? result : Fraction{0, 0};
}

Fraction operator+(const Fraction& a, const Fraction& b) {
  return Quotient(a.over * b.under + b.over * a.under, a.under * b.under);
}
Fraction operator-(const Fraction& a, const Fraction& b) { return a + Fraction{-b.over, b.under}; }
Fraction operator*(const Fraction& a, const Fraction& b) {
  return Quotient(a.over * b.over, a.under * b.under);
}
Fraction operator/(const Fraction& a, const Fraction& b) {
  return Quotient(a.over * b.under, a.under * b.over);
}
bool operator==(const Fraction& a, const Fraction& b) {
  return a.over == b.over && a.under == b.under;
}
bool operator<(const Fraction& a, const Fraction& b) { return a.over * b.under < b.over * a.under; }

Fraction Meant(double number) {
  const double size = std::abs(number);
  if (size == 0) return Whole(0);
  if (!(size < static_cast<double>(kLargestTerm)) || size < 1e-9) return {0, 0};
  constexpr int kDigits = std::numeric_limits<float>::digits;
  const double half_step = std::ldexp(1.0, std::ilogb(size) - kDigits);
  const Fraction meant = Simplest(size - half_step, size + half_step);
  return number < 0 ? Fraction{-meant.over, meant.under} : meant;
}

}  // namespace yuba::onnx
