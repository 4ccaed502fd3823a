// The integer points of a box under linear constraints: the arithmetic below box analysis.
// All values of expressions over the ranges must stay below 2^62 in size.
#ifndef YUBA_OPSEMANTICS_REGIONS_BOUNDS_H_
#define YUBA_OPSEMANTICS_REGIONS_BOUNDS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// Makes the bounds of all indices consistent with the constraints (ceiling below, floor above, ends
// moved to the residues that equalities allow) until nothing changes. Never loses a point. False
// where no point is left; `ranges` is then meaningless.
bool Propagate(absl::Span<const Constraint> constraints, std::vector<Interval>& ranges);

// What one constraint leaves of `ranges[index]` when all other indices range over `ranges`; may be
// empty.
Interval SolveFor(int index, const Constraint& constraint, const std::vector<Interval>& ranges);

// Whether the constraint holds on all of `ranges`.
bool Holds(const Constraint& constraint, const std::vector<Interval>& ranges);

// The points of `ranges` that satisfy all constraints; finds exact extreme values by branch and
// bound, and where that would take too long, bounds that hold all the same.
class PointSet {
 public:
  // The constraints must outlive it.
  PointSet(absl::Span<const Constraint> constraints, std::vector<Interval> ranges);

  bool empty() const { return empty_; }
  // The least and greatest value of `expression` over the points; empty where there are none.
  Interval Hull(const Affine& expression) const;

 private:
  void FindComponents();

  std::vector<const Constraint*> constraints_;  // those that do not hold everywhere
  std::vector<Interval> ranges_;                // propagated
  std::vector<int> component_;                  // [index]: -1 where unconstrained
  int components_ = 0;
  bool empty_ = false;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_BOUNDS_H_
