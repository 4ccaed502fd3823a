#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "search/engines/engine.h"
#include "search/model/grid_classes.h"
#include "search/model/grid_problem.h"
#include "search/solve/bucket_tree.h"
#include "search/solve/fold.h"
#include "search/solve/raise_threshold.h"

namespace yuba::search {
namespace {

constexpr int64_t kGridCells = int64_t{1} << 22;    // of the largest table of grids
constexpr int64_t kGridSums = int64_t{1} << 29;     // to eliminate them, about half a second
constexpr int64_t kCells = int64_t{1} << 25;        // of all tables of the remaining choices
constexpr int64_t kFoldCells = int64_t{1} << 20;    // of the largest table where all folds
constexpr int64_t kDeepCells = int64_t{1} << 24;    // of all tables of pruned elimination
constexpr int64_t kWork = int64_t{1} << 28;         // of pruned elimination, in sums
constexpr int64_t kMostChoices = int64_t{1} << 14;  // of one element, as in the checker
constexpr int64_t kMostBoxes = int64_t{1} << 24;    // of them, on all devices, as in the checker
constexpr int64_t kClassCells = int64_t{1} << 20;

struct GridMarginals {
  std::vector<int> order;
  BucketTree tree;
};

absl::optional<GridMarginals> MarginalsOf(const PairwiseProblem& grids, const Budget& budget) {
  absl::optional<Order> order = GreedyOrder(grids, kGridCells, budget, true);
  if (!order.has_value() || order->sums > kGridSums) return absl::nullopt;
  absl::optional<BucketTree> tree = MinMarginals(grids, order->variables, budget, true);
  if (!tree.has_value()) return absl::nullopt;
  return GridMarginals{std::move(order->variables), *std::move(tree)};
}

// By element: the grids with which some plan may move `limit` bytes or less. Elements that shared a
// list of grids share one again, of all that any of them needs.
std::vector<GridList> GridsWithin(const GridProblem& problem, const BucketTree& tree,
                                  int64_t limit) {
  std::map<GridList, std::vector<bool>> of_list;
  for (size_t e = 0; e < problem.grids.size(); ++e) {
    std::vector<bool>& kept = of_list[problem.grids[e]];
    kept.resize(problem.grids[e]->size());
    for (size_t grid = 0; grid < kept.size(); ++grid) {
      if (tree.of_value[e][grid] <= limit) kept[grid] = true;
    }
  }
  std::map<GridList, GridList> lists;
  for (const auto& [all, kept] : of_list) {
    std::vector<Grid> list;
    for (size_t grid = 0; grid < kept.size(); ++grid) {
      if (kept[grid]) list.push_back((*all)[grid]);
    }
    lists[all] = std::make_shared<const std::vector<Grid>>(std::move(list));
  }
  std::vector<GridList> of_element;
  for (const GridList& all : problem.grids) of_element.push_back(lists[all]);
  return of_element;
}

// Whether the checker would list all choices of each element.
bool CanBeListed(const Graph& graph, const Mesh& mesh) {
  const int axes = static_cast<int>(mesh.axes.size());
  const int64_t most = std::min(kMostChoices, kMostBoxes / mesh.devices());
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (CountChoices(SpaceOfTensor(graph, static_cast<TensorId>(t)), axes) > most) return false;
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (CountChoices(SpaceOfNode(graph, static_cast<NodeId>(n)), axes) > most) return false;
  }
  return true;
}

// The cells of all cost tables of choices of these grids; equal uses share a table.
int64_t CellsOf(const std::vector<TensorUse>& uses, const std::vector<GridList>& kept,
                const SearchOptions& options) {
  std::map<GridList, int64_t> counts;
  for (const GridList& grids : kept) {
    int64_t& count = counts[grids];
    if (count > 0) continue;
    for (const Grid& grid : *grids) {
      count += CountChoicesOfGrid(grid, options.mesh, options.nesting == Nesting::kLevel);
    }
  }
  std::map<std::tuple<int, GridList, GridList>, int64_t> tables;
  for (const TensorUse& use : uses) {
    const GridList &tensor = kept[use.tensor], &node = kept[use.node];
    tables[{use.kind, tensor, node}] = counts[tensor] * counts[node];
  }
  int64_t cells = 0;
  for (const auto& table : tables) cells += table.second;
  return cells;
}

// By element the grids of plans that may move `limit` bytes or less: the highest limit below the
// plan's cost, found by halving, at which the tables of their choices are of a size to be made.
struct GridsBelow {
  std::vector<GridList> grids;  // empty: there is no such limit
  int64_t limit = 0;
};

GridsBelow GridsBelowCost(const SearchOptions& options, const std::vector<TensorUse>& uses,
                          const GridProblem& problem, const BucketTree& tree, int64_t cost) {
  GridsBelow below;
  int64_t low = tree.least, high = cost - 1;
  const int64_t near = std::max<int64_t>(1, (cost - tree.least) / 32);
  for (int64_t limit = high; high - low > near; limit = (low + high) / 2) {
    std::vector<GridList> kept = GridsWithin(problem, tree, limit);
    if (CellsOf(uses, kept, options) > std::min(kCells, options.table_cells)) {
      high = limit;
      continue;
    }
    below = {std::move(kept), limit};
    low = limit;
  }
  return below;
}

// A bound with its proof of kind "grids". `order` and `plain`: of the choices of grids that are
// left; empty and 0 where grids alone show the bound.
ProvedBound BoundByGrids(int64_t bytes, const std::vector<int>& sweep, std::vector<int> order,
                         int plain) {
  Proof proof;
  proof.kind = ProofKind::kGrids;
  proof.sweep = sweep;
  proof.order = std::move(order);
  proof.plain = plain;
  return {bytes, std::move(proof)};
}

// How many elements, from the first of an elimination order, are eliminated plainly.
int PlainElements(const Problem& problem, const RaisedThreshold& raised) {
  return static_cast<int>(problem.clusters.merged.size()) + raised.plain;
}

}  // namespace

// The relaxation to grids is eliminated exactly, up and down, which gives for each grid of each
// element the least bytes of any plan that has it. With a plan of 725.9 MB in hand, a grid whose
// least is 730 MB is in no better plan and is dropped. The choices of what is left often have
// tables of a size to be made; they are then searched by pruned elimination.
void Prune(Task& task, Incumbent& incumbent) {
  const SearchOptions& options = task.options();
  const Budget& budget = task.budget();
  const absl::optional<GridProblem> grids =
      BuildGridProblem(task.graph(), options.mesh, task.uses(), false, budget,
                       options.table_cache.get(), task.restrictions());
  if (!grids.has_value() || !grids->complete) return;
  absl::optional<GridMarginals> marginals = MarginalsOf(grids->pairwise, budget);
  if (!marginals.has_value()) return;
  incumbent.Offer(BoundByGrids(marginals->tree.least, marginals->order, {}, 0));
  if (!CanBeListed(task.graph(), options.mesh)) return;
  const int64_t cost = incumbent.bytes();
  GridsBelow below = GridsBelowCost(options, task.uses(), *grids, marginals->tree, cost);
  if (below.grids.empty() || budget.ShouldStop()) return;
  marginals->tree = BucketTree();  // it is large
  ProblemOptions reduced = AllAxesOf(options, task.restrictions(), budget);
  reduced.grids = std::move(below.grids);
  const Problem problem = BuildProblem(task.graph(), reduced);
  if (!problem.complete) return;
  // Pins may leave an element none of the choices of its grids; what that proves is not replayed.
  const auto is_empty = [](const DomainPtr& domain) { return domain->size == 0; };
  const std::vector<DomainPtr>& domains = problem.pairwise.variables;
  if (std::any_of(domains.begin(), domains.end(), is_empty)) return;
  RaiseThresholdOptions limits;
  // Where not all folds, larger tables have brought nothing.
  if (FoldsWhole(problem.pairwise, kFoldCells)) limits.fold_cells = kFoldCells;
  limits.class_cells = kClassCells;
  limits.most_cells = kDeepCells;
  limits.work = kWork;
  const Solution start = {problem.ValuesOf(incumbent.choices()), cost};
  const absl::optional<RaisedThreshold> raised =
      RaiseThreshold(problem.pairwise, GridsOf(problem, options.mesh), start, limits, budget);
  if (!raised.has_value()) return;
  if (raised->solution.cost < cost) {
    incumbent.Offer(problem.ChoicesOf(raised->solution.assignment));
  }
  // Plans that have a dropped grid move more than the limit.
  incumbent.Offer(BoundByGrids(std::min(raised->bound, below.limit + 1), marginals->order,
                               problem.ElementOrder(raised->order),
                               PlainElements(problem, *raised)));
}

}  // namespace yuba::search
