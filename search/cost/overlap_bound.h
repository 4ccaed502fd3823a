// The most that what devices have and what pieces of a node read, or make, can overlap, whatever
// the labels: the relaxation of a transfer to grids, in closed form.
//
// A device has one part t of each dimension and one piece q of each factor; over the devices every
// combination of parts is met equally often, and so is every combination of pieces. In one
// dimension the overlap is at most what a part can share with any piece (a function of t) or a
// piece with any part (a function of q), whichever is less on average: where one divides finer than
// the other, the size of the finer, which good labels reach. The product of functions of t alone
// has the product of the means as its mean, so has that of functions of q alone; functions of both
// are at most as large as when the greatest values meet. Without halo all is exact where the
// extents divide.
#ifndef YUBA_SEARCH_COST_OVERLAP_BOUND_H_
#define YUBA_SEARCH_COST_OVERLAP_BOUND_H_

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/cost/part_boxes.h"

namespace yuba::search {

// Bounds by number: what factors, or several multiplied together, say of the overlap. Few different
// ones occur, and equal ones have one number; each is made once.
class OverlapBounds {
 public:
  explicit OverlapBounds(int64_t devices);

  // Of no factors: it changes no product.
  int one() const { return one_; }
  // Of one factor: `extents` and `parts` of its dimensions. All of these come before products.
  int Of(const std::vector<int64_t>& extents, const std::vector<int>& parts,
         const PartBoxes& pieces);
  int Product(int a, int b) { return NumberOf(ProductOf(bounds_[a], bounds_[b])); }
  // The greatest sum over the devices of a product of two.
  int64_t GreatestOfProduct(int a, int b) { return Greatest(ProductOf(bounds_[a], bounds_[b])); }

 private:
  using Wide = __int128;
  // How often which values occur: (value, count), greatest first. Neither values nor counts have a
  // common divisor.
  using Runs = std::vector<std::pair<int64_t, int64_t>>;
  struct Profile {
    Runs runs;
    int64_t sum, count;  // of all values
  };

  struct Bound {
    int64_t scale = 1;  // of all values; 0: no overlap, and all else is as in {}
    int parts = 0;      // the profile of the share that depends on the parts alone
    int pieces = 0;     // and of that on the pieces alone
    // Whether the shares vary; not told of factors where each of the two alone bounds the overlap,
    // and both are alike on average: `pieces` has their share.
    bool parts_vary = false, pieces_vary = false;
    int64_t greatest = 1;  // of one device; only where there are means
    // A bound of the mean of all devices, where neither number of parts of some factor divides the
    // other: a fraction without common divisor, the least there is. 0: none.
    Wide mean = 0;
    int64_t mean_of = 0;

    bool operator==(const Bound& other) const;
    template <typename H>
    friend H AbslHashValue(H hash, const Bound& bound) {
      return H::combine(std::move(hash), bound.scale, bound.parts, bound.pieces, bound.parts_vary,
                        bound.pieces_vary, bound.greatest, static_cast<int64_t>(bound.mean),
                        bound.mean_of);
    }
  };

  int NumberOf(const Bound& bound);
  Bound ProductOf(const Bound& a, const Bound& b);
  int64_t Greatest(const Bound& bound);
  // The number of the profile, what is common to all values multiplied to `scale`.
  int ProfileOf(Runs runs, int64_t* scale);
  int ProductOfProfiles(int a, int b);
  void LowerMean(Wide mean, int64_t of, Bound* bound) const;
  // The sum over all combinations of values of the products where the greatest values meet.
  Wide Matched(int parts, int pieces);

  const int64_t devices_;
  int one_;
  bool means_ = false;
  std::deque<Profile> profiles_;  // by number; 0: of 1 alone
  absl::flat_hash_map<Runs, int> profile_numbers_;
  absl::flat_hash_map<std::pair<int, int>, int> products_;
  absl::flat_hash_map<std::pair<int, int>, Wide> matched_;
  std::vector<Bound> bounds_;
  absl::flat_hash_map<Bound, int> numbers_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_OVERLAP_BOUND_H_
