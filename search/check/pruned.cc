// The replay of proofs by pruned elimination, after grids were dropped: ReplayGrids of bound.h.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check/bound.h"
#include "search/check/grids.h"
#include "search/check/part_counts.h"
#include "search/check/relaxed.h"
#include "search/check/sweep.h"

namespace yuba::search {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 27;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2;

// What is kept of one step of the elimination of choices.
struct KeptStep {
  std::vector<CheckTable> choices;  // the tables of choices that meet here (the sweep has grids)
  // By assignment of grids to the scope: where its block of `cells` starts (-1: all of it is above
  // the limit), and the least cell of the block.
  std::vector<int64_t> start, least;
  std::vector<int64_t> cells;  // blocks, one after the other
};

class PrunedReplay {
 public:
  PrunedReplay(const Plan& plan, const CostTables& costs, Remaining left)
      : plan_(plan),
        tables_(costs),
        left_(std::move(left)),
        limit_(plan.lower_bound - 1 - left_.least),
        sweep_({plan.proof.order.begin() + plan.proof.plain, plan.proof.order.end()},
               tables_.coarse()),
        dear_(std::min<int64_t>(limit_ + 1, kMost / (sweep_.steps().size() + 1))) {}

  absl::StatusOr<int64_t> Run(const Stop& stop) {
    kept_.resize(sweep_.steps().size());
    for (CheckTable& table : tables_.OneOfEachScope(std::move(left_.tables))) {
      const int step = sweep_.Place(tables_.ByGrid(table));
      kept_[step].choices.push_back(std::move(table));
    }
    YUBA_RETURN_IF_ERROR(sweep_.Run(limit_, stop));
    int64_t total = 0;  // over the components of the graph
    for (size_t s = 0; s < kept_.size(); ++s) {
      YUBA_RETURN_IF_ERROR(GoOn(stop));
      const SweepStep& step = sweep_.steps()[s];
      YUBA_RETURN_IF_ERROR(Prune(step, &kept_[s]));
      if (kept_[s].cells.empty()) return plan_.lower_bound;
      if (step.scope.empty()) total += kept_[s].cells[0];
      for (int before : step.before) kept_[before].cells = {};
    }
    return left_.least + total;
  }

 private:
  int Grids(int element) const { return tables_.Grids(element); }

  static std::vector<int> Joint(const SweepStep& step) {
    std::vector<int> joint = step.scope;
    joint.push_back(step.element);
    return joint;
  }

  // The joint scope of a step, its numbers of grids, and where the tables that meet there are in
  // it.
  struct Layout {
    std::vector<int> joint, sizes;
    std::vector<std::vector<int>> choices, before;  // places, by table
  };

  Layout LayoutOf(const SweepStep& step) const {
    Layout layout;
    layout.joint = Joint(step);
    for (int e : layout.joint) layout.sizes.push_back(Grids(e));
    for (const CheckTable& table : step.tables)
      layout.choices.push_back(PlacesIn(layout.joint, table.scope));
    for (int b : step.before) {
      layout.before.push_back(PlacesIn(layout.joint, sweep_.steps()[b].scope));
    }
    return layout;
  }

  // The step by choices: keeps only sums that together with the least of all else stay within the
  // limit.
  absl::Status Prune(const SweepStep& step, KeptStep* kept) {
    const Layout layout = LayoutOf(step);
    const std::vector<int> sizes(layout.sizes.begin(), layout.sizes.end() - 1);
    std::vector<int> grid(layout.joint.size(), 0);
    kept->start.assign(step.up->size(), -1);
    kept->least.assign(step.up->size(), dear_);
    for (size_t tuple = 0; tuple < step.up->size(); ++tuple) {
      if ((*step.up)[tuple] + (*step.down)[tuple] <= limit_) {
        YUBA_RETURN_IF_ERROR(Block(step, layout, tuple, &grid, kept));
      }
      std::vector<int> scope_grid(grid.begin(), grid.end() - 1);
      NextValues(sizes, &scope_grid);
      std::copy(scope_grid.begin(), scope_grid.end(), grid.begin());
    }
    return absl::OkStatus();
  }

  // The block of one assignment of grids to the scope, number `tuple`: the least sums of all its
  // choices. Kept if any is within the limit.
  absl::Status Block(const SweepStep& step, const Layout& layout, size_t tuple,
                     std::vector<int>* grid, KeptStep* kept) {
    const int64_t budget = limit_ - (*step.down)[tuple];
    std::vector<int> cheap;  // grids of the element
    for (int g = 0; g < Grids(step.element); ++g) {
      grid->back() = g;
      if (IsCheap(step, layout, *grid, budget)) cheap.push_back(g);
    }
    if (cheap.empty()) return absl::OkStatus();
    int64_t room = kMostCells - static_cast<int64_t>(kept->cells.size());
    for (size_t i = 0; i + 1 < layout.joint.size(); ++i) {
      room /= static_cast<int64_t>(tables_.ChoicesOf(layout.joint[i], (*grid)[i]).size());
    }
    if (room == 0) return ProofError("the proof keeps too many cells");
    const std::vector<CheckTable> tables = InBlock(step, *kept, layout, *grid, cheap);
    std::vector<int> scope;  // places in the joint
    Renamings renamed;       // by place
    for (size_t i = 0; i + 1 < layout.joint.size(); ++i) {
      scope.push_back(static_cast<int>(i));
      renamed.push_back(tables_.RenamedIn(layout.joint[i], (*grid)[i]));
    }
    renamed.push_back(Unnamed(tables_.CountIn(step.element, cheap)));
    std::vector<int64_t> block =
        LeastSums(scope, static_cast<int>(scope.size()), tables, renamed, budget);
    const int64_t least = *std::min_element(block.begin(), block.end());
    if (least > budget) return absl::OkStatus();
    for (int64_t& cost : block) cost = cost > budget ? dear_ : cost;
    kept->start[tuple] = static_cast<int64_t>(kept->cells.size());
    kept->least[tuple] = least;
    kept->cells.insert(kept->cells.end(), block.begin(), block.end());
    return absl::OkStatus();
  }

  bool IsCheap(const SweepStep& step, const Layout& layout, const std::vector<int>& grid,
               int64_t budget) const {
    int64_t sum = 0;
    for (size_t t = 0; t < step.tables.size(); ++t) {
      sum += (*step.tables[t].cells)[CellOf(layout.choices[t], layout.sizes, grid)];
    }
    for (size_t b = 0; b < step.before.size(); ++b) {
      sum += kept_[step.before[b]].least[CellOf(layout.before[b], layout.sizes, grid)];
      if (sum > budget) return false;
    }
    return sum <= budget;
  }

  // The tables that meet in a step, over places in the joint scope: elements of the scope with the
  // choices of these grids, the step's element with those of all grids in `cheap`.
  std::vector<CheckTable> InBlock(const SweepStep& step, const KeptStep& kept, const Layout& layout,
                                  const std::vector<int>& grid,
                                  const std::vector<int>& cheap) const {
    std::vector<int> all;  // choices of the element
    for (int g : cheap) {
      const std::vector<int>& choices = tables_.ChoicesOf(step.element, g);
      all.insert(all.end(), choices.begin(), choices.end());
    }
    std::vector<CheckTable> tables;
    for (size_t t = 0; t < kept.choices.size(); ++t) {
      std::vector<const std::vector<int>*> choices;
      for (size_t i = 0; i < kept.choices[t].scope.size(); ++i) {
        const int e = kept.choices[t].scope[i];
        choices.push_back(e == step.element ? &all
                                            : &tables_.ChoicesOf(e, grid[layout.choices[t][i]]));
      }
      tables.push_back({layout.choices[t], tables_.OfChoices(kept.choices[t], choices)});
    }
    for (size_t b = 0; b < step.before.size(); ++b) {
      tables.push_back({layout.before[b], OfBlocks(step, layout, b, grid, cheap)});
    }
    return tables;
  }

  // The blocks that earlier step number `b` has kept, side by side for all grids in `cheap`. The
  // element is the last of that step's scope.
  CheckTable::Cells OfBlocks(const SweepStep& step, const Layout& layout, size_t b,
                             const std::vector<int>& grid, const std::vector<int>& cheap) const {
    const KeptStep& before = kept_[step.before[b]];
    const std::vector<int>& places = layout.before[b];
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < places.size(); ++i) {
      rows *=
          static_cast<int64_t>(tables_.ChoicesOf(layout.joint[places[i]], grid[places[i]]).size());
    }
    const int64_t columns = tables_.CountIn(step.element, cheap);
    auto cells = std::make_shared<std::vector<int64_t>>(rows * columns, dear_);
    std::vector<int> here = grid;
    int64_t column = 0;
    for (const int g : cheap) {
      here.back() = g;
      const int64_t start = before.start[CellOf(places, layout.sizes, here)];
      const auto width = static_cast<int64_t>(tables_.ChoicesOf(step.element, g).size());
      for (int64_t row = 0; row < rows && start >= 0; ++row) {
        const int64_t* from = before.cells.data() + start + row * width;
        std::copy(from, from + width, cells->begin() + row * columns + column);
      }
      column += width;
    }
    return cells;
  }

  const Plan& plan_;
  GridTables tables_;
  Remaining left_;
  const int64_t limit_;
  Sweep sweep_;
  const int64_t dear_;          // above the limit, yet a sum of it over all steps does not overflow
  std::vector<KeptStep> kept_;  // by step
};

absl::Status CheckPlain(const Plan& plan) {
  const int64_t count = static_cast<int64_t>(plan.proof.order.size());
  if (plan.proof.plain >= 0 && plan.proof.plain <= count) return absl::OkStatus();
  return ProofError("the proof eliminates ", plan.proof.plain,
                    " elements plainly, but its order has ", count);
}

// A lower bound, by element and grid, of what any plan with that grid moves: by the relaxation to
// grids. Numbers at or above the plan's bound may be given as more.
struct LeastOfGrids {
  std::vector<std::vector<int64_t>> of_grid;
  int64_t of_all = 0;
};

absl::StatusOr<LeastOfGrids> SweepGrids(const Graph& graph, const Plan& plan, const Stop& stop) {
  YUBA_ASSIGN_OR_RETURN(const RelaxedTables costs,
                        MakeRelaxedTables(graph, plan.mesh, plan.space, stop));
  std::map<int, Renamings::value_type> known;  // by count
  Renamings grids;
  for (const std::vector<int>* counts : {&costs.tensors, &costs.nodes}) {
    for (const int count : *counts) {
      Renamings::value_type& values = known[count];
      if (values == nullptr) values = Unnamed(count);
      grids.push_back(values);
    }
  }
  Sweep sweep(plan.proof.sweep, grids);
  const int tensors = static_cast<int>(graph.tensors.size());
  for (const RelaxedTables::Use& use : costs.uses) {
    sweep.Place({{tensors + use.node, use.tensor}, use.cost});
  }
  YUBA_RETURN_IF_ERROR(sweep.Run(plan.lower_bound - 1, stop));
  LeastOfGrids least;
  least.of_grid.resize(grids.size());
  for (const SweepStep& step : sweep.steps()) least.of_grid[step.element] = step.of_value;
  least.of_all = sweep.left().least;
  return least;
}

// The grids that plans below the plan's lower bound may have. Those that `least` has not, no choice
// that meets the pins has.
absl::StatusOr<GridsToKeep> GridsBelow(const Graph& graph, const Plan& plan,
                                       const LeastOfGrids& least) {
  YUBA_ASSIGN_OR_RETURN(const PinsOfElements pins, PinsOf(graph, plan.mesh, plan.space));
  const size_t tensors = graph.tensors.size();
  const bool replicate = plan.space.replicate == Replicate::kAuto;
  GridsToKeep keep(pins.size());
  for (size_t e = 0; e < keep.size(); ++e) {
    const std::vector<int64_t>& of_grid = least.of_grid[e];
    if (pins[e].empty()) {
      for (const int64_t cost : of_grid) keep[e].push_back(cost < plan.lower_bound);
      continue;
    }
    const std::vector<Grid> all =
        e < tensors ? EveryTensorGrid(plan.mesh, graph.tensors[e], replicate, {})
                    : EveryNodeGrid(plan.mesh, *graph.nodes[e - tensors].definition,
                                    IsCopy(graph, graph.nodes[e - tensors]), {});
    size_t next = 0;
    for (const Grid& grid : all) {
      keep[e].push_back(MayMeet(plan.mesh, grid, pins[e]) && of_grid[next++] < plan.lower_bound);
    }
  }
  return keep;
}

}  // namespace

absl::StatusOr<int64_t> ReplayGrids(const Graph& graph, const Plan& plan, const Stop& stop) {
  YUBA_RETURN_IF_ERROR(CheckPlain(plan));
  YUBA_RETURN_IF_ERROR(CheckOrder(graph, plan.proof.sweep));
  YUBA_ASSIGN_OR_RETURN(const LeastOfGrids least, SweepGrids(graph, plan, stop));
  if (least.of_all >= plan.lower_bound) return least.of_all;
  YUBA_ASSIGN_OR_RETURN(const GridsToKeep keep, GridsBelow(graph, plan, least));
  YUBA_ASSIGN_OR_RETURN(const CostTables costs,
                        MakeCostTables(graph, plan.mesh, plan.space, stop, &keep));
  YUBA_ASSIGN_OR_RETURN(Remaining left, EliminatePlainly(graph, plan, costs, TablesOf(costs),
                                                         plan.proof.plain, stop));
  return PrunedReplay(plan, costs, std::move(left)).Run(stop);
}

}  // namespace yuba::search
