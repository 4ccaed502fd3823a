// Box analysis: which elements of its operands a piece of a definition reads, and which elements of
// its result it makes. The method is consistency of the bounds of all indices with all constraints
// (ceiling below, floor above, to a fixpoint), which is exact for the constraints of convolutions,
// their gradients, windows, triangles and re-views.
#ifndef YUBA_OPSEMANTICS_BOXES_H_
#define YUBA_OPSEMANTICS_BOXES_H_

#include <vector>

#include "opsemantics/core.h"

namespace yuba {

struct Boxes {
  std::vector<Interval> indices;  // what is left of each index's range
  std::vector<Box> needs;         // for each operand: the bounding box of all its reads; may be empty
  Box made;                       // of the result: the whole piece, not shrunk to where a term exists
};

// `ranges` has one interval for each index of the definition: its part, or its whole extent.
// Conditions on data count as true. Reads with `else` are clipped to the operand.
Boxes AnalyzeBoxes(const Definition& definition, const std::vector<Interval>& ranges);

// The ranges of an uncut definition.
std::vector<Interval> WholeRanges(const Definition& definition);

// Indices that may be cut: extent of at least 2, and for a reduction index a reducer whose partial
// results combine (not argmax and argmin).
std::vector<int> CuttableIndices(const Definition& definition);

// Bounds that the constraints leave for index `index` when the indices in `fixed` are single points
// and all others range over `ranges`: what the interpreter's and the kernels' loops use.
Interval ConsistentRange(const Definition& definition, const std::vector<Interval>& ranges, int index);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BOXES_H_
