// Labels: from grids to cuts. Which mesh axes a choice uses, and in what order, follows from its
// neighbours' cuts: local search over what they suggest, first with repeated parts of the graph cut
// alike, then without; at last all suggestions together.
#ifndef YUBA_SEARCH_AXES_ASSIGN_AXES_H_
#define YUBA_SEARCH_AXES_ASSIGN_AXES_H_

#include <cstdint>
#include <functional>
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
  int64_t table_cells = int64_t{1} << 22;  // of the problem over all suggestions
  int64_t bound = 0;                       // bytes; what moves hardly more is not improved on
  const Budget* budget = &Budget::Unlimited();
  // Other choices of all elements, to begin from if they are cheaper than what was found; may be
  // empty.
  std::function<Choices()> start;
};

// Several runs of kicks, in turns from the starts and from the best so far, then the best of what
// they met together, and again.
struct Effort {
  int rounds, runs;
  int64_t work;  // of a run: sums of costs, some three million a second
};
void Refine(const AxisProblem& problem, const Effort& effort, const AxisOptions& options,
            std::vector<std::vector<int>> starts, AxisSearch* search);

// Cuts near these grids that move few bytes. Legal. `grids`: by element likely ones of AllGrids,
// the best first.
Choices AssignAxes(const Graph& graph, const AxisOptions& options,
                   const std::vector<TensorUse>& uses, const std::vector<std::vector<Grid>>& grids);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_ASSIGN_AXES_H_
