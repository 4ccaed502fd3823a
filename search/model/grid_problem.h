// The relaxation of a graph's problem to grids: the names of mesh axes are forgotten.
//
// Variables are all elements, values their grids, and a cost is the least of any choices of two
// grids (search/cost/use_costs.h). So a bound of this problem is a bound of all plans, and
// thousands of devices leave tables of thousands of cells. Example: on 1,024 devices (ten axes of
// size 2) a weight of two long dimensions has 11 grids, {1024, 1} to {1, 1024}, and about 4 * 10^7
// shardings.
#ifndef YUBA_SEARCH_MODEL_GRID_PROBLEM_H_
#define YUBA_SEARCH_MODEL_GRID_PROBLEM_H_

#include <memory>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "search/cost/kernel_costs.h"
#include "search/cost/table_cache.h"
#include "search/cost/use_costs.h"
#include "search/model/memory_rows.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"
#include "search/space/restriction.h"

namespace yuba::search {

// What one node gathers of one operand, or reduces into its result.
struct TensorUse {
  int tensor = 0, node = 0;         // elements: tensors first, then nodes
  int kind = 0;                     // equal for equal definitions and operands
  std::shared_ptr<UseCosts> costs;  // shared by uses of one kind
  // Of a reduction under time: what the node costs by itself, shared too. Else null.
  std::shared_ptr<KernelCosts> kernels;
};
// All uses: by node, the reduction first, then the gathers in the order of operands. The graph must
// outlive them.
std::vector<TensorUse> TensorUsesOf(const Graph& graph, const Mesh& mesh,
                                    const Objective& objective = Objective());

// A copy and the node that makes it are cut alike (search/plan/go_together.h).
enum class CopyNodes {
  kApart,        // yet they have a variable each, joined by the cost of the node's reduction
  kAsTheirCopy,  // the node's gather is a factor of the copy's variable; its own is in no factor
};

struct GridProblem {
  // A variable for each element, and a factor for each use; under time one more for each node, of
  // its kernel. Of a node as its copy the reduction's factor is of the node alone and costs
  // nothing.
  PairwiseProblem pairwise;
  std::vector<GridList> grids;            // [element][value of its variable]
  std::vector<int> variable;              // [element]: itself, or where it is as its copy that
  std::vector<std::vector<int>> factors;  // [node]: as in Problem (graph_problem.h)
  bool complete = true;                   // false: factors are missing; it is still a relaxation
};
// Nothing where there are too many grids (grid_counts.h). `replicate`: any tensor may leave axes
// out. Where the budget is spent, small tables are computed before large ones, and the problem has
// the factors by then; nothing where it would have none. Tables that `known` holds are taken from
// it, others are added; it may be null. Under the restrictions of pins, [element], the grids are
// those that may meet them.
absl::optional<GridProblem> BuildGridProblem(const Graph& graph, const Mesh& mesh,
                                             const std::vector<TensorUse>& uses, bool replicate,
                                             const Budget& budget = Budget::Unlimited(),
                                             TableCache* known = nullptr,
                                             const Restrictions& restrictions = {},
                                             CopyNodes copy_nodes = CopyNodes::kApart);

// The rows of memory_rows.h by grid, in bytes. All choices of one grid use the same. A transfer's
// buffer counts where something moves whatever the choices of the grids.
MemoryRows GridRowsOf(const Graph& graph, const Mesh& mesh, const GridProblem& problem,
                      int64_t limit, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_GRID_PROBLEM_H_
