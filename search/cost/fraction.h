// Exact fractions that are not negative, for means of which only the floor of a product is wanted.
//
// Equal fractions have equal terms, so that they are found by hash. A fraction may be unknown: then
// it is greater than all others, and so are its products.
#ifndef YUBA_SEARCH_COST_FRACTION_H_
#define YUBA_SEARCH_COST_FRACTION_H_

#include <cstdint>
#include <numeric>
#include <utility>

#include "opsemantics/base/arithmetic.h"
#include "opsemantics/base/check.h"

namespace yuba::search {

class Fraction {
 public:
  using Wide = __int128;

  Fraction() = default;  // 1
  // `below` > 0.
  Fraction(Wide above, int64_t below) {
    const int64_t common = CommonDivisor(above, below);
    above_ = Divided(above, common);
    below_ = below / common;
  }
  static Fraction Unknown() {
    Fraction unknown;
    unknown.below_ = 0;
    return unknown;
  }

  bool is_known() const { return below_ != 0; }
  // `times` as much, rounded down. The fraction must be known.
  int64_t FloorOf(Wide times) const {
    const Wide product = Times(above_, times);
    return static_cast<int64_t>(Divided(product, below_));
  }

  // That of a * b, without a search for common divisors.
  static int64_t FloorOfProduct(const Fraction& a, const Fraction& b, Wide times) {
    const Wide product = Times(Times(a.above_, b.above_), times);
    return static_cast<int64_t>(Divided(product, CheckedMultiply(a.below_, b.below_)));
  }

  friend Fraction operator*(const Fraction& a, const Fraction& b) {
    if (!a.is_known() || !b.is_known()) return Unknown();
    // Each is in lowest terms, so common divisors are of one's numerator and the other's
    // denominator; without them the product is in lowest terms and as small as can be.
    const int64_t first = CommonDivisor(a.above_, b.below_);
    const int64_t second = CommonDivisor(b.above_, a.below_);
    Fraction product;
    product.above_ = Times(Divided(a.above_, first), Divided(b.above_, second));
    product.below_ = CheckedMultiply(a.below_ / second, b.below_ / first);
    return product;
  }
  // An unknown one is 1 / 0.
  friend bool operator<(const Fraction& a, const Fraction& b) {
    return Times(a.above_, b.below_) < Times(b.above_, a.below_);
  }
  friend bool operator==(const Fraction& a, const Fraction& b) {
    return a.above_ == b.above_ && a.below_ == b.below_;
  }
  template <typename H>
  friend H AbslHashValue(H hash, const Fraction& fraction) {
    return H::combine(std::move(hash), static_cast<int64_t>(fraction.above_), fraction.below_);
  }

  static Wide Times(Wide a, Wide b) {
    Wide product = 0;
    YUBA_CHECK(!__builtin_mul_overflow(a, b, &product));
    return product;
  }

 private:
  static int64_t CommonDivisor(Wide a, int64_t b) {
    return b == 1 ? 1 : std::gcd(static_cast<int64_t>(a % b), b);
  }
  // Most divisors are 1, and a division of wide numbers takes ten times as long as a product.
  static Wide Divided(Wide a, int64_t by) { return by == 1 ? a : a / by; }

  Wide above_ = 1;
  int64_t below_ = 1;  // 0: unknown
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_FRACTION_H_
