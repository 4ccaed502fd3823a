// The relaxation of a graph's problem to grids: labels of mesh axes are forgotten, so that
// thousands of devices leave tables of thousands of cells.
#ifndef YUBA_SEARCH_MODEL_GRID_PROBLEM_H_
#define YUBA_SEARCH_MODEL_GRID_PROBLEM_H_

#include <memory>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "search/cost/table_cache.h"
#include "search/cost/use_costs.h"
#include "search/model/memory_rows.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// What one node gathers of one operand, or reduces. Equal uses share `costs`.
struct TensorUse {
  int tensor = 0, node = 0;  // elements: tensors first, then nodes
  int kind = 0;              // equal for equal definitions and operands
  std::shared_ptr<UseCosts> costs;
};
std::vector<TensorUse> TensorUsesOf(const Graph& graph, const Mesh& mesh);

struct GridProblem {
  PairwiseProblem pairwise;               // a variable for each element, a factor for each use
  std::vector<GridList> grids;            // by element: its grid for each value
  std::vector<std::vector<int>> factors;  // as Problem has them
  bool complete = true;  // false: factors are missing, so that it is but a relaxation
};
// `replicate`: any tensor may leave axes out. Where the budget is spent, the small tables are there
// first; nothing where none is. Tables in `known`, which may be null, are taken from there, others
// come there too.
absl::optional<GridProblem> BuildGridProblem(const Graph& graph, const Mesh& mesh,
                                             const std::vector<TensorUse>& uses, bool replicate,
                                             const Budget& budget = Budget::Unlimited(),
                                             TableCache* known = nullptr);

// The rows of memory_rows.h by grid: all choices of one use the same, and what moves whatever the
// choices needs its buffer.
MemoryRows GridRowsOf(const Graph& graph, const Mesh& mesh, const GridProblem& problem,
                      int64_t limit, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_GRID_PROBLEM_H_
