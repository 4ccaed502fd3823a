// Searching a few mesh axes at a time, each as well as can be, given those before: one at a time is
// Tofu's recursion (Wang, Huang, Li, "Supporting very large models using automatic dataflow graph
// partitioning", EuroSys 2019, section 5.2).
#ifndef YUBA_SEARCH_MODEL_RECURSION_H_
#define YUBA_SEARCH_MODEL_RECURSION_H_

#include <cstdint>
#include <vector>

#include "search/model/graph_problem.h"
#include "search/plan/choice.h"
#include "search/plan/plan.h"
#include "search/solve/eliminate.h"

namespace yuba::search {

// Groups of axes that are placed together, one group after the other, later ones inside (unless
// restrictions demand another order).
using Groups = std::vector<std::vector<int>>;

Groups GroupsOf(const Mesh& mesh, int size);
// As many axes at a time as cost tables of `cells` cells together allow.
Groups WidestGroups(const Graph& graph, const Mesh& mesh, int64_t cells);

// Whether the gap is at most one `part`-th of the bytes: worth no other search.
inline bool IsNear(int64_t bytes, int64_t lower_bound, int64_t part = 1000) {
  return bytes - lower_bound <= bytes / part;
}

// `base` without axes and given cuts. Exactly where tables of `table_cells` cells suffice; proved
// where besides there is one group only. Where the budget is spent, the groups that are left take
// the first choices that there are.
Candidate SearchGroups(const Graph& graph, const ProblemOptions& base, const Groups& groups,
                       int64_t table_cells);

// Local search from the starts, and from the best plan that choices repeated steps alike.
Solution SolveApproximately(const Graph& graph, const Problem& problem,
                            std::vector<Assignment> starts, int64_t table_cells,
                            const Budget& budget);

// Bytes that each level of a plan adds, first level first (Tofu's deltas): what the plan moves when
// only the first i axes are there, less what it moves with one axis less. For plans nested by
// level.
std::vector<int64_t> BytesByLevel(const Graph& graph, const Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_RECURSION_H_
