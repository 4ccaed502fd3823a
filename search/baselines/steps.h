// What baselines are made of: restrictions solved exactly, and greedy choices level by level.
//
// Example: on 4 devices Along({true, false}) cuts f32[3, 8] into
// 2 parts of its first dimension, and the axis that does not fit there goes to the second.
#ifndef YUBA_SEARCH_BASELINES_STEPS_H_
#define YUBA_SEARCH_BASELINES_STEPS_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/model/graph_problem.h"
#include "search/plan/choice.h"

namespace yuba::search {

// No restriction of any element, [element].
Restrictions Unrestricted(const Graph& graph);

// Axes cut the extents that are `true`, as far as they fit; other axes cut any extent.
Restriction Along(const std::vector<bool>& extents);
// Axes cut the first dimension longer than 1, as far as they fit; other axes cut any dimension.
Restriction OnFirstDimension(const Tensor& tensor);
// No extent is cut: a tensor is stored whole on every device.
Restriction Whole(size_t extents);

// What holds for a group of mesh axes; demands number its axes from 0 on.
struct RestrictedGroup {
  AxisGroup axes;
  Restrictions restrictions;
};

// The fewest bytes that the restrictions allow, one group of axes after the other, the outermost
// first; within a group as many axes at a time as tables allow. Exact for one group where tables of
// `table_cells` cells suffice. Axes nest by level; with several groups those of a later one may
// also cut outside of earlier ones.
Choices CheapestWithin(const Graph& graph, const Mesh& mesh, std::vector<RestrictedGroup> groups,
                       int64_t table_cells, const Budget& budget);

// For each axis of the mesh, the elements in `order` one after the other: each takes the choice
// that costs least given the choices made before, where neighbours without one count at their best.
// Elements that are not in `order` come last.
Choices GreedyByLevel(const Graph& graph, const Mesh& mesh, const std::vector<int>& order,
                      const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_STEPS_H_
