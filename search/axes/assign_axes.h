// From grids to choices: which mesh axes cut which extent, and in what order.
//
// A grid says only into how many parts each extent is cut. On a mesh of three axes a, b and c of
// size 2, the grid (4, 2) of a tensor [32, 64] has six shardings: [32/ab, 64/c], [32/ba, 64/c],
// [32/ac, 64/b], ... They hold equally much, but a reader whose own first index is cut over ab
// gathers nothing from the first alone. Good axes therefore follow from the neighbours' choices.
// The method: local search over the choices that neighbours ask for, first with repeated parts of
// the graph cut alike, then without that tie; after each round an exact elimination over a small
// pool of choices of every variable, and after all of them one over all places of one mesh axis
// (axis_pool.h).
#ifndef YUBA_SEARCH_AXES_ASSIGN_AXES_H_
#define YUBA_SEARCH_AXES_ASSIGN_AXES_H_

#include <cstdint>
#include <vector>

#include "search/axes/axis_search.h"
#include "search/model/graph_problem.h"
#include "search/model/grid_problem.h"
#include "search/plan/choice.h"
#include "search/solve/budget.h"
#include "search/space/domain.h"

namespace yuba::search {

struct AxisOptions {
  Mesh mesh;
  Nesting nesting = Nesting::kFree;
  int64_t table_cells = int64_t{1} << 22;  // the largest table when pools are eliminated
  int64_t bound = 0;  // bytes a step, a lower bound: at most 0.001 % above it the search ends
  const Budget* budget = &Budget::Unlimited();
  std::vector<Choices> starts = {};  // more starts than the grids are: each of all elements
};

// How long Refine searches: `rounds` rounds of `runs` runs, each of `work` sums of costs (some
// three million of them take a second).
struct Effort {
  int rounds, runs;
  int64_t work;
  int64_t table_cells = int64_t{1} << 22;  // the largest table when ChooseAmong eliminates pools
  bool moves = false;                      // whether whole axes are moved after the rounds
};
// Improves the choices of `search`. In each round, runs of kicks (AxisSearch::Kick) begin in turn
// from one of the starts and from the best so far; then ChooseAmong combines what all runs found.
// After the rounds MoveAxis moves one mesh axis after the other, until none makes the plan cheaper.
// `starts`: at least one, each by variable of `problem`, numbers in the search's store. The best
// found is left in `search`. Ends early after two rounds without a gain, at the options' bound, or
// where the budget is spent.
void Refine(const AxisProblem& problem, const Effort& effort, const AxisOptions& options,
            std::vector<std::vector<int>> starts, AxisSearch* search);

// A legal choice for each element, near these grids, that moves few bytes. Choices may leave the
// grids where that is cheaper. At first, elements of one structure are cut alike, then those with
// equal uses; then, with a period, those that are so many repetitions apart (search/model/ties.h).
// Example:
//   const Choices found = AssignAxes(graph, options, uses, bound.grids, {});
// `uses`: those of TensorUsesOf. `grids`: [element], likely grids of its AllGrids, the best first,
// at least one. Choices meet the restrictions of pins, [element], which may be empty.
// Deterministic where the budget has no end.
Choices AssignAxes(const Graph& graph, const AxisOptions& options,
                   const std::vector<TensorUse>& uses, const std::vector<std::vector<Grid>>& grids,
                   const Restrictions& restrictions, int period = 0);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_ASSIGN_AXES_H_
