// Searching a few mesh axes at a time, each group as well as can be, given the groups before. One
// axis at a time is Tofu's recursion (Wang, Huang, Li, "Supporting very large models using
// automatic dataflow graph partitioning", EuroSys 2019, section 5.2).
//
// Example: 8 devices are the axes a b c. In groups of one axis the search first cuts everything
// over a as cheaply as can be, then each half over b, then each quarter over c. In one group of
// three it places all axes at once, and where elimination is exact its cost is proved to be the
// least.
#ifndef YUBA_SEARCH_MODEL_RECURSION_H_
#define YUBA_SEARCH_MODEL_RECURSION_H_

#include <cstdint>
#include <vector>

#include "search/model/graph_problem.h"
#include "search/plan/choice.h"
#include "search/plan/plan.h"
#include "search/solve/eliminate.h"

namespace yuba::search {

// Groups of axes that are placed together, one group after the other. Axes of later groups cut
// inside those of earlier ones, unless restrictions demand another order.
using Groups = std::vector<std::vector<int>>;

// The axes of the mesh in order, `size` in each group; one empty group where there is no axis.
Groups GroupsOf(const Mesh& mesh, int size);
// The largest groups whose cost tables have at most `cells` cells together (TableCells).
Groups WidestGroups(const Graph& graph, const Mesh& mesh, int64_t cells);

// Whether the gap is at most one `part`-th of the bytes: too small for another search to be worth
// it.
inline bool IsNear(int64_t bytes, int64_t lower_bound, int64_t part = 1000) {
  return bytes - lower_bound <= bytes / part;
}

// The choices that the groups lead to, from `given` of `base` on; its `axes` are not looked at.
// Each group is solved exactly where tables of `table_cells` cells suffice, else by local search.
// There is a bound and a proof only where there is one group of all axes, solved exactly. Where the
// budget is spent, the groups that remain take the first choice of each domain.
Candidate SearchGroups(const Graph& graph, const ProblemOptions& base, const Groups& groups,
                       int64_t table_cells);

// [level]: the bytes that the level adds (Tofu's deltas), first level first: what the plan moves
// with the first i + 1 axes alone, less what it moves with the first i. For plans nested by level.
std::vector<int64_t> BytesByLevel(const Graph& graph, const Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_RECURSION_H_
