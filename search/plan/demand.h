// What pins demand of tensors and nodes: for each extent, which mesh axes cut it.
//
// Example: the pin [a, -] of a tensor f32[8, 8] demands {axes a, others true} of the first extent
// and {no axes, others false} of the second. On the mesh a=2 b=2 it leaves [8/ab, 8] and [8/ba, 8]:
// axis b must go somewhere, and the second extent stays whole.
#ifndef YUBA_SEARCH_PLAN_DEMAND_H_
#define YUBA_SEARCH_PLAN_DEMAND_H_

#include <tuple>
#include <vector>

#include "opsemantics/sharding/sharding.h"
#include "search/plan/grid.h"

namespace yuba::search {

// What is demanded of one extent.
struct Demand {
  AxisList axes;       // they cut it, in this order, outermost first
  bool others = true;  // whether further axes may cut it, anywhere between those
  friend bool operator==(const Demand& a, const Demand& b) {
    return a.axes == b.axes && a.others == b.others;
  }
  friend bool operator<(const Demand& a, const Demand& b) {
    return std::tie(a.axes, a.others) < std::tie(b.axes, b.others);
  }
};
using Demands = std::vector<Demand>;  // [extent]

// Whether the demanded axes cut each extent in the order demanded, and others only where they may.
// Without demands: true.
bool Meets(const Sharding& choice, const Demands& demands);

// Whether each number of parts is a multiple of what the demanded axes make, or equal to it where
// no others may cut. Every choice that meets the demands has such a grid. Without demands: true.
bool MayMeet(const Mesh& mesh, const Grid& grid, const Demands& demands);

// What all pins of one element demand together.
struct PinnedElement {
  int element = 0;  // tensors first, then nodes (choice.h)
  Demands demands;
  friend bool operator==(const PinnedElement& a, const PinnedElement& b) {
    return a.element == b.element && a.demands == b.demands;
  }
};
using PinnedElements = std::vector<PinnedElement>;  // by ascending element

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_DEMAND_H_
