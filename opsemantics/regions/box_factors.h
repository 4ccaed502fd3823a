// The boxes of a definition as products of factors, so that the boxes of many parts follow from few
// (search/cost/ counts with them). The bounds of one dimension of a box depend on some indices
// only. Dimensions and indices that depend on each other form a factor; the box is the product over
// its factors.
//
// Example: the box of x in y[i, j] = sum(k) x[i, k] * w[k, j] has two factors: dimension 0 with
// index i, and dimension 1 with index k. With i in 4 parts and k in 4 parts there are 16 boxes of
// x, and the 4 + 4 parts of the two factors tell them all. In x[i + k, k] there is one factor.
#ifndef YUBA_OPSEMANTICS_REGIONS_BOX_FACTORS_H_
#define YUBA_OPSEMANTICS_REGIONS_BOX_FACTORS_H_

#include <memory>
#include <vector>

#include "opsemantics/regions/boxes.h"

namespace yuba {

struct BoxFactor {
  std::vector<int> indices;  // on which the bounds depend: of the definition, ascending
  std::vector<int> dims;     // flat dimensions of the operand or result, ascending; none where the
                             // factor only decides whether the box is empty
};

// The factors of the box that a part reads of one operand, or of the box that it writes. Every
// dimension is in exactly one factor, every index in at most one. The box is empty where a factor
// is empty. Equal to AnalyzeBoxes (boxes.h). Copies the definition.
class BoxFactors {
 public:
  // `operand` < 0: the written box. `partial`: of parts that run only some of the reduction, so
  // that elements without a term are not written; else of parts that run all of it.
  BoxFactors(const Definition& definition, int operand, bool partial);

  const std::vector<BoxFactor>& factors() const { return factors_; }

  // The bounds of one factor's dimensions, in the order of BoxFactor::dims, where its indices have
  // these ranges (in the order of BoxFactor::indices).
  struct Piece {
    bool empty = false;
    Box box;
  };
  Piece Of(int factor, const std::vector<Interval>& ranges) const;

 private:
  struct Groups;
  void AddFactors(Groups& groups);

  std::shared_ptr<const Definition> definition_;  // a changed copy: see the constructor
  std::shared_ptr<const BoxAnalysis> analysis_;
  std::vector<Interval> whole_;  // the ranges of all indices
  int operand_;
  bool partial_;
  std::vector<std::vector<Affine>> positions_;  // [read][dimension]; of the result: one entry
  std::vector<BoxFactor> factors_;
  std::vector<bool> plain_;  // [factor]: no constraint names its indices
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_BOX_FACTORS_H_
