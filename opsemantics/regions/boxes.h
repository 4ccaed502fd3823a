// Box analysis: which elements of its operands a part of a definition reads, and which elements of
// its result it writes. A part is one interval for each index; the answer is one box for each
// tensor, the bounding box of what is read or written, in elements of the whole tensor.
//
// Example: y[p] = sum(u: 3) (x[p + u - 1] else 0) with 8 elements. The part p in [4, 8), all of u,
// reads [3, 8) of x (position 8 is outside) and writes [4, 8) of y: the shard and a halo of one.
//
// The method is consistency of the bounds of all indices with all constraints (ceiling below, floor
// above, to a fixpoint; bounds.h), which is exact for the constraints of convolutions, their
// gradients, windows, triangles and reshapes. Where it stops early, boxes are too large, never too
// small. Nothing here can fail; ranges of the wrong number are a fault (CHECK).
#ifndef YUBA_OPSEMANTICS_REGIONS_BOXES_H_
#define YUBA_OPSEMANTICS_REGIONS_BOXES_H_

#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

struct Boxes {
  std::vector<Interval> indices;  // [index]: its range, as far as the constraints allow it
  std::vector<Box> reads;         // [operand]: the bounding box of all its reads; may be empty
  // Of the result. Where the ranges of the reduction indices are whole, it is all of the part's
  // output ranges: elements without a term hold the reducer's identity. Where a reduction index is
  // cut, it is the bounding box of the elements that have a term; the others get none from this
  // part.
  Box writes;
};

// `ranges` has one interval for each index of the definition, in the order of its indices: a part
// of the index, or its whole extent. A condition on data counts as true where it restricts a
// reduction, unless its values are known (DataCondition::table): then it counts where it holds, for
// what the body reads and for what is written. In a body it counts as both true and false. Reads
// with `else` are clipped to the operand; other reads are not, so that a description that reads
// outside shows. A scalar has no empty box: a scalar that is not read counts as read.
Boxes AnalyzeBoxes(const Definition& definition, const std::vector<Interval>& ranges);

struct ReadSite;

// AnalyzeBoxes for many parts of one definition: what does not depend on the part is prepared once.
// The definition must outlive the analysis.
class BoxAnalysis {
 public:
  explicit BoxAnalysis(const Definition& definition);
  // Looks at these reads only, as if the definition had no others.
  BoxAnalysis(const Definition& definition, const std::vector<ReadSite>& reads);
  ~BoxAnalysis();
  Boxes Analyze(const std::vector<Interval>& ranges) const;
  // One box of Analyze: reads[operand], or writes where `operand` is below 0.
  Box AnalyzeOne(const std::vector<Interval>& ranges, int operand) const;
  const Definition& definition() const { return *definition_; }

 private:
  struct Read;
  // What is read of the operand over the `consistent` ranges that Propagate leaves; empty where the
  // constraints leave no point, which is where not `possible`.
  Box ReadBox(int operand, bool possible, const std::vector<Interval>& consistent) const;

  const Definition* definition_;
  std::vector<Constraint> written_;  // where there is a term
  std::vector<Read> reads_;
};

// The ranges of a definition that is not partitioned: [0, extent) for each index.
std::vector<Interval> WholeRanges(const Definition& definition);

// The indices that a partition may cut, ascending: those with an extent of at least 2, and of the
// reduction indices only those whose reducer combines partials (not argmax and argmin). Of
// y[i] = sum(k) x[i, k] both; of y[i] = argmax(k) x[i, k] only i; of an opaque definition those
// that definition/opaque.h says.
std::vector<int> CuttableIndices(const Definition& definition);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_BOXES_H_
