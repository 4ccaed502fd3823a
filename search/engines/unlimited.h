// Plans without a limit on memory and without replicas: which search when, and PlanOf, with which
// all searches make their plans.
//
// Three cases. Tables of all choices are small, or are soon eliminated: all axes at once
// (eliminate_all.h). They are not, and there are no pins: grids first (grid_search.h), then grids
// that only dear plans have are dropped (prune.h). With pins: a few axes at a time
// (search/model/recursion.h).
#ifndef YUBA_SEARCH_ENGINES_UNLIMITED_H_
#define YUBA_SEARCH_ENGINES_UNLIMITED_H_

#include "search/model/graph_problem.h"
#include "search/model/recursion.h"
#include "search/plan/choice.h"
#include "search/search_options.h"
#include "search/solve/budget.h"
#include "search/space/restriction.h"

namespace yuba::search {

// Whether in all choices the axes of one extent come in the order of the mesh.
bool NestsByLevel(const SearchOptions& options);

// Whether the cost tables of all axes at once have at most 2^22 cells, or with replicas 2^23.
bool FitsInTables(const Graph& graph, const Mesh& mesh, bool replicate = false);

// Whether they have at most 2^26 cells and are eliminated in at most 2^31 sums, about two seconds.
bool IsSoonEliminated(const Graph& graph, const SearchOptions& options,
                      const Restrictions& restrictions, const Budget& budget);

// The shardings of the plan's tensors, then the partitions of its nodes: by element.
Choices AllChoices(const Plan& plan);
// The plan with these choices, priced (CostOf), with this bound and proof. Its space says that
// nothing is replicated and that there is no limit on memory.
Plan PlanOf(const Graph& graph, const SearchOptions& options, Candidate found);

// The search named "default". With pins its bound and proof are of plans that have them.
Plan SearchDefault(const Graph& graph, const SearchOptions& options,
                   const Restrictions& restrictions, const Budget& budget);
// The search named "recursive": level by level, as Tofu. Without a bound where there are pins.
Plan SearchRecursive(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget);
// The one of the two that the options name. Where the default search was stopped before it had a
// bound, the dual of grids has a little overtime, unless there are pins or replicas are allowed.
Plan SearchUnlimited(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_UNLIMITED_H_
