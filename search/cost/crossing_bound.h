// Bounds of what devices find of a use within groups of devices, of one factor of the use's boxes
// or of several multiplied together (crossings.h says what they mean and why they hold).
//
// What is found of all factors is the product of what is found of each. Its mean is at most the
// product of the means, as parts of different factors are independent where each mean is one over
// all parts; and at most, for each factor, that factor's other bound times the most of every other
// factor. Few different bounds occur in a table, and products of equal ones are equal.
#ifndef YUBA_SEARCH_COST_CROSSING_BOUND_H_
#define YUBA_SEARCH_COST_CROSSING_BOUND_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "search/cost/fraction.h"

namespace yuba::search {

// What devices find in their groups: elements, or parts that others have.
struct Found {
  Fraction mean;                         // over the parts that devices may need
  int64_t greatest = 1;                  // of one part
  Fraction other = Fraction::Unknown();  // another bound of the mean

  // The least bound of the mean.
  Fraction Mean() const { return std::min(mean, other); }
  friend Found operator*(const Found& a, const Found& b) {
    return {a.mean * b.mean, CheckedMultiply(a.greatest, b.greatest),
            std::min(a.other * Fraction(b.greatest, 1), b.other * Fraction(a.greatest, 1))};
  }
  friend bool operator==(const Found& a, const Found& b) {
    return a.mean == b.mean && a.greatest == b.greatest && a.other == b.other;
  }
  template <typename H>
  friend H AbslHashValue(H hash, const Found& found) {
    return H::combine(std::move(hash), found.mean, found.greatest, found.other);
  }
};

struct CrossingBound {
  // Of one kind of links: what is found in groups of lesser kinds.
  struct Near {
    Found elements, parts;  // `elements` is 1 of kind 0, of which nobody asks

    friend bool operator==(const Near& a, const Near& b) {
      return a.elements == b.elements && a.parts == b.parts;
    }
    template <typename H>
    friend H AbslHashValue(H hash, const Near& near) {
      return H::combine(std::move(hash), near.elements, near.parts);
    }
  };

  Fraction met;  // with how many parts of others a needed part has elements in common, in the mean
  absl::InlinedVector<Near, 2> near;  // [kind of links]; mostly there are at most two kinds

  // Both have all kinds.
  friend CrossingBound operator*(const CrossingBound& a, const CrossingBound& b) {
    CrossingBound product = {a.met * b.met, {}};
    for (size_t kind = 0; kind < a.near.size(); ++kind) {
      product.near.push_back(
          {a.near[kind].elements * b.near[kind].elements, a.near[kind].parts * b.near[kind].parts});
    }
    return product;
  }
  friend bool operator==(const CrossingBound& a, const CrossingBound& b) {
    return a.met == b.met && a.near == b.near;
  }
  template <typename H>
  friend H AbslHashValue(H hash, const CrossingBound& bound) {
    return H::combine(std::move(hash), bound.met, bound.near);
  }
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_CROSSING_BOUND_H_
