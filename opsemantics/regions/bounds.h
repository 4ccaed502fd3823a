// The integer points of a box under constraints: the arithmetic below box analysis. A box is given
// as `ranges`, one interval for each index; a constraint is an affine expression, to which the
// value of a table may be added, that is 0, or at most 0 (definition.h). All values of expressions
// over the ranges must stay below 2^62 in size; elaboration refuses descriptions that could go
// beyond.
//
// Example: t and u in [0, 4) with 2*t + u == 5. Propagate leaves t in [1, 3) and u in [1, 4): the
// points are (1, 3) and (2, 1), so these bounds are exact.
#ifndef YUBA_OPSEMANTICS_REGIONS_BOUNDS_H_
#define YUBA_OPSEMANTICS_REGIONS_BOUNDS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// Shrinks the ranges of all indices until each bound is consistent with every constraint (ceiling
// below, floor above, ends moved to the residues that equalities allow). Never loses a point; gives
// up after a fixed number of rounds, with ranges that are too wide. False where it finds that no
// point is left; `ranges` is then meaningless.
bool Propagate(absl::Span<const Constraint> constraints, std::vector<Interval>& ranges);

// The part of `ranges[index]` that one constraint allows when all other indices range over
// `ranges`; may be empty.
Interval SolveFor(int index, const Constraint& constraint, const std::vector<Interval>& ranges);

// Whether the constraint holds at every point of `ranges`.
bool Holds(const Constraint& constraint, const std::vector<Interval>& ranges);

// The points of `ranges` that satisfy all constraints. Extreme values of expressions over them are
// exact, by branch and bound; where that would take too long they are bounds that are too wide,
// never too narrow.
class PointSet {
 public:
  // The constraints must outlive it.
  PointSet(absl::Span<const Constraint> constraints, std::vector<Interval> ranges);

  // Whether there is no point. True is certain; false can mean that the search took too long.
  bool empty() const { return empty_; }
  // The least and the greatest value of `expression` over the points, as a half-open interval;
  // empty where there are no points.
  Interval Hull(const Affine& expression) const;

 private:
  void FindComponents();

  std::vector<const Constraint*> constraints_;  // all that do not hold everywhere in ranges_
  std::vector<Interval> ranges_;                // after propagation
  std::vector<int> component_;                  // [index]: indices that constraints tie together
                                                // share a number; -1 where none names the index
  std::vector<bool> exact_;  // [component]: it is one index, and its bounds are those of points
  int components_ = 0;
  bool empty_ = false;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_BOUNDS_H_
