// The bounds that the cost of a use follows from, for each pair of a tensor's grid and a node's
// grid: of the overlap of shards and boxes (overlap_bound.h), and where times are wanted of what
// crosses links of outer kinds (crossings.h); and how large the boxes are. All of it as one number.
#ifndef YUBA_SEARCH_COST_GRID_BOUNDS_H_
#define YUBA_SEARCH_COST_GRID_BOUNDS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "search/cost/crossings.h"
#include "search/cost/factor_bounds.h"
#include "search/cost/fraction.h"
#include "search/cost/numbering.h"
#include "search/cost/overlap_bound.h"
#include "search/cost/part_boxes.h"
#include "search/plan/link_terms.h"

namespace yuba::search {

// Equal bounds have equal numbers. Not for several threads at a time.
class GridBounds {
 public:
  // `crossings`: null where nobody asks for links. `term`: what costs are of; what they do not
  // depend on is left out, so that more bounds are equal.
  GridBounds(int64_t devices, const Crossings* crossings, LinkTerm term = LinkTerm::kAll);

  // The bound of no factors: multiplying by it changes nothing.
  int one() const { return 0; }
  // The bounds of each factor of `regions`; all calls must come before the first product. `dims`:
  // the extents of the tensor. Grids of which the bounds depend on the same are one kind.
  std::vector<FactorBounds> OfFactors(const std::vector<int64_t>& dims,
                                      const std::vector<Grid>& tensor_grids,
                                      const std::vector<Grid>& node_grids, Regions* regions);
  int Product(int a, int b);

  // Of the product of two bounds: the most elements that shards and boxes have in common, summed
  // over devices.
  int64_t OverlapOfProduct(int a, int b) {
    return overlaps_.GreatestOfProduct(bounds_.at(a).overlap, bounds_.at(b).overlap);
  }
  // What is found in groups of devices; only with `crossings`.
  CrossingBound FoundOfProduct(int a, int b) const {
    return found_.at(bounds_.at(a).found) * found_.at(bounds_.at(b).found);
  }
  // The elements of `boxes` boxes, which are all equally often; of the far term those of all boxes
  // `boxes` times.
  int64_t ElementsOfProduct(int a, int b, int64_t boxes) const {
    return Fraction::FloorOfProduct(volumes_.at(bounds_.at(a).volume),
                                    volumes_.at(bounds_.at(b).volume), boxes);
  }

 private:
  // By number.
  struct Bound {
    int overlap = 0, found = 0, volume = 0;

    friend bool operator==(const Bound& a, const Bound& b) {
      return a.overlap == b.overlap && a.found == b.found && a.volume == b.volume;
    }
    template <typename H>
    friend H AbslHashValue(H hash, const Bound& bound) {
      return H::combine(std::move(hash), bound.overlap, bound.found, bound.volume);
    }
  };

  FactorBounds OfFactor(const std::vector<int64_t>& dims, const std::vector<Grid>& tensor_grids,
                        const std::vector<Grid>& node_grids, int number, Regions* regions);
  // What the bounds of a factor depend on of how the tensor, or the node, cuts it.
  using CutKey = std::vector<std::vector<int>>;
  CutKey TensorKey(const std::vector<int64_t>& extents, const Grid& cut) const;
  CutKey NodeKey(const BoxFactor& factor, const Grid& cut) const;

  const Crossings* const crossings_;
  const LinkTerm term_;
  OverlapBounds overlaps_;
  Numbering<CrossingBound> found_;
  Numbering<Fraction> volumes_;  // elements of a box in the mean, of the far term of all boxes
  Numbering<Bound> bounds_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_GRID_BOUNDS_H_
