// The boxes of a definition as products. The bounds of some dimensions depend on some indices only,
// those of others on others; so a few pieces of each factor tell the boxes of all pieces.
#ifndef YUBA_OPSEMANTICS_REGIONS_BOX_FACTORS_H_
#define YUBA_OPSEMANTICS_REGIONS_BOX_FACTORS_H_

#include <memory>
#include <vector>

#include "opsemantics/regions/boxes.h"

namespace yuba {

struct BoxFactor {
  std::vector<int> indices;  // of the definition, ascending: those on which the bounds depend
  std::vector<int> dims;     // of the operand or result, ascending; none where the factor only
                             // decides whether there is a box at all
};

// The factors of one operand, or of what a piece makes. Every dimension is in one factor, an index
// in at most one; the box is empty where a factor is.
class BoxFactors {
 public:
  // `operand` < 0: the written box, of a part of the reduction if `partial`, else of all of it.
  BoxFactors(const Definition& definition, int operand, bool partial);

  const std::vector<BoxFactor>& factors() const { return factors_; }

  // The bounds of the factor's dimensions, in their order, where its indices have these ranges.
  struct Piece {
    bool empty = false;
    Box box;
  };
  Piece Of(int factor, const std::vector<Interval>& ranges) const;

 private:
  struct Groups;
  void AddFactors(Groups& groups);

  std::shared_ptr<const Definition> definition_;  // with an index more: see the constructor
  std::shared_ptr<const BoxAnalysis> analysis_;
  std::vector<Interval> whole_;  // the ranges of all indices
  int operand_;
  bool partial_;
  std::vector<std::vector<Affine>> positions_;  // by read
  std::vector<BoxFactor> factors_;
  std::vector<bool> plain_;  // by factor: no constraint binds its indices
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_BOX_FACTORS_H_
