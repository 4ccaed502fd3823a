// Searching all axes of the mesh at once: exactly where the tables fit, else the best of what the
// other ways find, with the best bound.
#ifndef YUBA_SEARCH_ENGINES_ELIMINATE_ALL_H_
#define YUBA_SEARCH_ENGINES_ELIMINATE_ALL_H_

#include <functional>

#include "search/engines/grid_search.h"
#include "search/model/graph_problem.h"
#include "search/model/recursion.h"
#include "search/plan/choice.h"
#include "search/search_options.h"
#include "search/solve/budget.h"
#include "search/space/restriction.h"

namespace yuba::search {

// The problem of these options, no axes placed yet. The budget must outlive it.
ProblemOptions OptionsOf(const SearchOptions& options, const Restrictions& restrictions,
                         const Budget& budget);

// The same that places all axes at once.
ProblemOptions AllAxesOf(const SearchOptions& options, const Restrictions& restrictions,
                         const Budget& budget);

Candidate CandidateOfGrids(GridSolution found);

// What can be found in a little overtime, once the budget is spent and there is nothing yet.
Candidate SearchLate(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget);

// For meshes whose cost tables are of a size to be made; where the budget is spent, the best by
// then. `start` makes cuts of all elements to begin from besides; it is asked last, where what was
// found is not proved the best, and may be empty.
Candidate SearchTogether(const Graph& graph, const SearchOptions& options,
                         const Restrictions& restrictions, const Budget& budget,
                         const std::function<Choices()>& start = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_ELIMINATE_ALL_H_
