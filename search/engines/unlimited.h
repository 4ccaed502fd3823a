// Plans without a limit on memory and without replicas, and what all searches make their plans of.
#ifndef YUBA_SEARCH_ENGINES_UNLIMITED_H_
#define YUBA_SEARCH_ENGINES_UNLIMITED_H_

#include "search/model/graph_problem.h"
#include "search/model/recursion.h"
#include "search/plan/choice.h"
#include "search/search_options.h"
#include "search/solve/budget.h"
#include "search/space/restriction.h"

namespace yuba::search {

// Whether the axes of a mesh are nested in its order, in all choices.
bool NestsByLevel(const SearchOptions& options);

// Whether the cost tables of all axes at once are of a size to be made.
bool FitsInTables(const Graph& graph, const Mesh& mesh);

// Whether larger ones can be made, and eliminated soon.
bool IsSoonEliminated(const Graph& graph, const SearchOptions& options,
                      const Restrictions& restrictions, const Budget& budget);

Choices AllChoices(const Plan& plan);
// Prices the choices.
Plan PlanOf(const Graph& graph, const SearchOptions& options, Candidate found);

// All axes at once, or grids first. With pins its bound and proof are of the pinned problem.
Plan SearchDefault(const Graph& graph, const SearchOptions& options,
                   const Restrictions& restrictions, const Budget& budget);
// Level by level, as Tofu.
Plan SearchRecursive(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget);
// The one of the two that the options name.
Plan SearchUnlimited(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_UNLIMITED_H_
