// The last word on time: of the plan that the search has found, those of the baselines and the
// recursion's, the one whose program takes least. The objective prices each exchange and each
// kernel by itself; what a schedule hides, what kernels share and how long devices wait only the
// program shows (SearchOptions::step_of). So no way of partitioning that people use takes less than
// the plan that they get, by the same prediction.
#ifndef YUBA_SEARCH_PORTFOLIO_SHORTEST_STEP_H_
#define YUBA_SEARCH_PORTFOLIO_SHORTEST_STEP_H_

#include "search/search.h"
#include "search/solve/budget.h"

namespace yuba::search {

// Puts the plan of the shortest step, of those of baselines, by the objective and as published (of
// fewest bytes, without copies), and the recursion, in the place of found.plan, where that step is
// shorter. It must be a plan of the space that was searched:
// baselines that replicate need Replicate::kAuto, all must keep to the limit on memory. Space,
// bound and proof stay, since they hold for all plans of the space: the plan's gap is then that of
// its own value. Plan::search names whose plan it is, and a remark says what was gained.
//
// Its name among the engines (SearchOptions::without) is "scheduled". Does nothing without
// options.step_of, with another objective than time, with pins, which baselines do not follow, or
// where the step of found.plan cannot be predicted.
void TakeShortestStep(const SearchOptions& options, const Budget& budget, PlannedGraph& found);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PORTFOLIO_SHORTEST_STEP_H_
