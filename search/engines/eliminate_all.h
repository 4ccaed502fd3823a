// The search of all axes of the mesh at once, on tables of choices: exactly where the tables of an
// elimination fit, else the best plan of several searches, with the best bound of theirs.
//
// Of plain elimination the proof is "elimination" and the gap 0. Else the bound is that of grids
// ("dual") or of pruned elimination ("pruned"), and plans come from grids, from the recursion, from
// local search and from the anchored dual.
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

// What BuildProblem is to make of these options, with no axes to place yet. The budget must outlive
// the result.
ProblemOptions OptionsOf(const SearchOptions& options, const Restrictions& restrictions,
                         const Budget& budget);

// The same, with all axes of the mesh to place at once.
ProblemOptions AllAxesOf(const SearchOptions& options, const Restrictions& restrictions,
                         const Budget& budget);

// The choices, bound and proof of a search on grids.
Candidate CandidateOfGrids(GridSolution found);

// For a budget that was spent before anything was found: what can be found in a little overtime.
// One axis at a time; where that was too slow too and there are no restrictions, grids, with their
// bound.
Candidate SearchLate(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget);

// All axes at once, for graphs and meshes whose cost tables are of a size to be made. With
// restrictions, bound and proof are of the restricted problem. Where the budget is spent, the best
// by then. `start` returns choices of all elements from another search; it is called last, and only
// where the gap is above 0.1 %. It may be empty.
Candidate SearchTogether(const Graph& graph, const SearchOptions& options,
                         const Restrictions& restrictions, const Budget& budget,
                         const std::function<Choices()>& start = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_ELIMINATE_ALL_H_
