// An upper bound, in closed form, of the elements that devices' shards of a tensor have in common
// with what the devices read or write of it, for a tensor's grid and a node's grid, whatever axes
// the parts are cut over. The bytes that a use moves are at least what is read less this overlap.
//
// A device has one part t of each dimension of the tensor and one part q of each factor of the
// node's boxes (a "piece" in the names below). Over the devices every combination of tensor parts
// occurs equally often, and so does every combination of pieces. In one dimension the overlap is
// at most f(t), the most that part t shares with any piece, and at most g(q), the most that piece q
// shares with any part; the bound takes the one with the smaller mean. Where one side is cut finer,
// that is the size of the finer part, and axes that nest reach it. The product of all f is a
// function of t whose mean is the product of their means; so it is for all g and q. The sum over
// devices of f(t) * g(q) is greatest where great values meet great ones. Without halos the bound is
// exact where all extents divide.
//
// Example: one dimension of 8 elements on 4 devices, the tensor in 2 parts, the node in 4. A part
// shares at most 2 elements with a piece, so the overlap is at most 2 * 4 = 8 elements: [8/a]
// against a partition over ab reaches it, [8/b] does not.
#ifndef YUBA_SEARCH_COST_OVERLAP_BOUND_H_
#define YUBA_SEARCH_COST_OVERLAP_BOUND_H_

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/cost/fraction.h"
#include "search/cost/numbering.h"
#include "search/cost/part_boxes.h"

namespace yuba::search {

// Bounds, by number: of one factor, or of several multiplied together. Few different bounds occur;
// equal ones have one number, and each is computed once. Not for several threads at a time.
class OverlapBounds {
 public:
  // `by_kind`: whether only axes of one kind may cut both sides alike; else axes of any kind may,
  // and bounds are greater.
  explicit OverlapBounds(int64_t devices, bool by_kind = true);

  // The bound of no factors: multiplying by it changes nothing.
  int one() const { return one_; }
  // The bound of one factor. `extents` and `grid`: of its dimensions, as the tensor is cut;
  // `pieces`: as the node is. All calls must come before the first product.
  int Of(const std::vector<int64_t>& extents, const Grid& grid, const PartBoxes& pieces);
  int Product(int a, int b) { return NumberOf(ProductOf(bounds_.at(a), bounds_.at(b))); }
  // The most elements, summed over the devices, that the product of two bounds allows.
  int64_t GreatestOfProduct(int a, int b) {
    return Greatest(ProductOf(bounds_.at(a), bounds_.at(b)));
  }

 private:
  using Wide = __int128;
  // How often which values occur: (value, count), greatest value first. Neither values nor counts
  // have a common divisor.
  using Runs = std::vector<std::pair<int64_t, int64_t>>;
  struct Profile {
    Runs runs;
    int64_t sum, count;  // of all values
  };

  struct Bound {
    int64_t scale = 1;  // a factor of all values; 0: no overlap, and all other fields are as in {}
    int parts = 0;      // the number of the profile of the product of all f(t)
    int pieces = 0;     // the number of the profile of the product of all g(q)
    // Whether f or g varies. Where a factor's f and g have equal means each alone is a bound: then
    // `pieces` holds g, and neither is said to vary.
    bool parts_vary = false, pieces_vary = false;
    int64_t greatest = 1;  // the most elements of one device; kept only where `means_` is set
    // Another bound, of the mean over all devices, the least of those known. It comes from factors
    // in which parts and pieces cannot have all axes of either in common.
    Fraction mean = Fraction::Unknown();

    bool operator==(const Bound& other) const;
    template <typename H>
    friend H AbslHashValue(H hash, const Bound& bound) {
      return H::combine(std::move(hash), bound.scale, bound.parts, bound.pieces, bound.parts_vary,
                        bound.pieces_vary, bound.greatest, bound.mean);
    }
  };

  int NumberOf(const Bound& bound);
  Bound ProductOf(const Bound& a, const Bound& b);
  int64_t Greatest(const Bound& bound);
  // The number of the profile with these runs, whose common divisor is multiplied into *scale.
  int ProfileOf(Runs runs, int64_t* scale);
  int ProductOfProfiles(int a, int b);
  // The sum of f * g over all combinations of values when greatest values meet greatest.
  Wide Matched(int parts, int pieces);

  const int64_t devices_;
  const bool by_kind_;
  int one_;
  bool means_ = false;            // whether some factor has a mean
  std::deque<Profile> profiles_;  // by number; number 0 is of the value 1 alone
  absl::flat_hash_map<Runs, int> profile_numbers_;
  absl::flat_hash_map<std::pair<int, int>, int> products_;
  absl::flat_hash_map<std::pair<int, int>, Wide> matched_;
  Numbering<Bound> bounds_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_OVERLAP_BOUND_H_
