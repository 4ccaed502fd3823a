// The regions of a definition piece by piece: what pieces read of one operand, or make, kept by
// factors, so that thousands of devices cost no more than their parts along each dimension.
#ifndef YUBA_SEARCH_COST_PART_BOXES_H_
#define YUBA_SEARCH_COST_PART_BOXES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "opsemantics/regions/box_factors.h"

namespace yuba::search {

// One factor with its indices cut into parts: the bounds of all pieces.
struct PartBoxes {
  std::vector<int> parts;        // by index of the factor
  int64_t count = 1;             // their product
  int64_t volume = 0;            // the volumes of all pieces together (without dimensions: 1 each)
  std::vector<Interval> bounds;  // [piece][dimension]; all empty where a piece is
  std::vector<bool> exists;      // [piece]
  bool even = false;  // one dimension, cut into equal parts of which each piece is one, in order
};

class Regions {
 public:
  // As BoxFactors.
  Regions(const Definition& definition, int operand, bool partial);

  const std::vector<BoxFactor>& factors() const { return boxes_.factors(); }
  // The pieces of a factor when the definition's indices are cut into parts as `grid` says. The
  // reference stays valid.
  const PartBoxes& PiecesOf(int factor, const std::vector<int>& grid);

 private:
  PartBoxes Make(int factor, const std::vector<int>& parts) const;
  bool IsEven(const BoxFactor& shape, const PartBoxes& pieces) const;

  std::vector<int64_t> extents_, dims_;
  BoxFactors boxes_;
  std::vector<std::map<std::vector<int>, PartBoxes>> pieces_;  // by factor, by parts
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_PART_BOXES_H_
