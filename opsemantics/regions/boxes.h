// Box analysis: which elements of its operands a part of a definition reads, and which elements of
// its result it writes. The method is consistency of the bounds of all indices with all constraints
// (ceiling below, floor above, to a fixpoint), which is exact for the constraints of convolutions,
// their gradients, windows, triangles and reshapes.
#ifndef YUBA_OPSEMANTICS_REGIONS_BOXES_H_
#define YUBA_OPSEMANTICS_REGIONS_BOXES_H_

#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

struct Boxes {
  std::vector<Interval> indices;  // what is left of each index's range
  std::vector<Box> reads;  // for each operand: the bounding box of all its reads; may be empty
  // Of the result. With the whole reduction, the whole part: elements without a term hold the
  // reducer's identity. With a part of the reduction, what the constraints leave: other elements
  // get no term from this part.
  Box writes;
};

// `ranges` has one interval for each index of the definition: its part, or its whole extent.
// Conditions on data count as true, in bodies as true and as false. Reads with `else` are clipped
// to the operand, others are not: a description that reads outside shows. A scalar has no empty
// box: one that is not read counts as read all the same.
Boxes AnalyzeBoxes(const Definition& definition, const std::vector<Interval>& ranges);

struct ReadSite;

// The same for many parts of one definition, which must outlive it.
class BoxAnalysis {
 public:
  explicit BoxAnalysis(const Definition& definition);
  // Where no other reads than these matter.
  BoxAnalysis(const Definition& definition, const std::vector<ReadSite>& reads);
  ~BoxAnalysis();
  Boxes Analyze(const std::vector<Interval>& ranges) const;
  // Only what it reads of one operand, or, where that is below 0, what it writes.
  Box AnalyzeOne(const std::vector<Interval>& ranges, int operand) const;
  const Definition& definition() const { return *definition_; }

 private:
  struct Read;
  // What is read of the operand where the constraints leave these ranges, if they are possible.
  Box ReadBox(int operand, bool possible, const std::vector<Interval>& left) const;

  const Definition* definition_;
  std::vector<Read> reads_;
};

// The ranges of a definition that is not partitioned.
std::vector<Interval> WholeRanges(const Definition& definition);

// Indices that may be cut: extent of at least 2, and for a reduction index a reducer whose partial
// results combine (not argmax and argmin).
std::vector<int> CuttableIndices(const Definition& definition);

// Bounds that the constraints leave for index `index` when all indices range over `ranges`; those
// of the loops outside are single points there. What the interpreter's and the kernels' loops use.
Interval ConsistentRange(const Definition& definition, const std::vector<Interval>& ranges,
                         int index);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_BOXES_H_
