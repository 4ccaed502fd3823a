// What baselines are made of: restrictions solved exactly, and greedy choices level by level.
#ifndef YUBA_SEARCH_BASELINES_STEPS_H_
#define YUBA_SEARCH_BASELINES_STEPS_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/model/graph_problem.h"
#include "search/plan/choice.h"

namespace yuba::search {

// No restriction of any element.
Restrictions Unrestricted(const Graph& graph);

// Along the extents that are `true`, as far as they go; the rest where it fits.
Restriction Along(const std::vector<bool>& extents);
// The first dimension longer than 1, as far as it goes; the rest where it fits.
Restriction OnFirstDimension(const Tensor& tensor);
// Not cut at all.
Restriction Whole(size_t extents);

// The cheapest choices that the restrictions allow, axes nested by level.
Choices CheapestWithin(const Graph& graph, const Mesh& mesh, Restrictions restrictions,
                       int64_t table_cells, const Budget& budget);

// Level by level: the elements in `order` one after the other, each the cheapest given those
// chosen, the others taken at their best. Elements that are not in `order` come last.
Choices GreedyByLevel(const Graph& graph, const Mesh& mesh, const std::vector<int>& order,
                      const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_STEPS_H_
