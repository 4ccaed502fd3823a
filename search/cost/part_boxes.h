// The boxes that the parts of a node read of one operand, or write, kept factor by factor, so that
// thousands of devices cost no more than the parts along each dimension.
//
// The bounds of some dimensions depend on some indices only (opsemantics/regions/box_factors.h).
// With the indices of one factor cut into parts, each combination of parts is a "piece". Example:
// x[i, k] with i = 8 cut in 2 and k = 6 cut in 3. Factor i has the pieces [0,4) and [4,8), factor k
// [0,2), [2,4) and [4,6): 5 intervals tell the boxes of 6 devices.
#ifndef YUBA_SEARCH_COST_PART_BOXES_H_
#define YUBA_SEARCH_COST_PART_BOXES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "opsemantics/regions/box_factors.h"
#include "search/plan/grid.h"

namespace yuba::search {

// One factor with its indices cut into parts: the bounds of all pieces. Pieces are numbered
// row-major by the parts of the indices.
struct PartBoxes {
  int64_t count = 1;             // of pieces: all parts of the indices multiplied
  std::vector<int64_t> by_kind;  // [kind of axes]: how many they make; all multiplied are `count`
  int64_t volume = 0;            // elements of all pieces together (without dimensions: 1 a piece)
  std::vector<Interval> bounds;  // [piece][dimension of the factor]; all empty where the piece is
  std::vector<bool> exists;      // [piece]: false where the piece is empty
  bool even = false;  // one dimension in equal parts, of which piece p is part p, without halo
};

// The factors of one use, with the pieces that were asked for. Not for several threads at a time.
class Regions {
 public:
  // As BoxFactors: `operand` < 0 is what the node writes, of a part of the reduction if `partial`.
  Regions(const Definition& definition, int operand, bool partial);

  const std::vector<BoxFactor>& factors() const { return boxes_.factors(); }
  // The pieces of a factor when the indices of the definition are cut as `grid` says. The reference
  // stays valid.
  const PartBoxes& PiecesOf(int factor, const Grid& grid);

 private:
  PartBoxes Make(int factor, const Grid& grid) const;
  bool IsEven(const BoxFactor& shape, const PartBoxes& pieces) const;

  std::vector<int64_t> extents_, dims_;  // of the indices; of the operand or result
  BoxFactors boxes_;
  std::vector<std::map<Grid, PartBoxes>> pieces_;  // [factor], by the grid of its indices
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_PART_BOXES_H_
