#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check_bound.h"
#include "search/check_grids.h"

namespace yuba {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 27;
constexpr int64_t kGone = std::numeric_limits<int64_t>::max() / 64;  // can be added a few times

// One step. `scope`: elements that go later, the last of them first; then `element` is the last of
// the joint scope.
struct Step {
  int element = 0;
  std::vector<int> scope;
  std::vector<CheckTable> cuts;   // costs by cut that meet here
  std::vector<CheckTable> grids;  // the least of them by grid
  std::vector<int> before;        // steps whose results meet here
  CheckTable::Cells up,
      down;  // by grids of the scope: the least cost of what is gone, and of the rest
  // By grids of the scope: where its block of `cells` starts (-1: all too dear), and the least in
  // it.
  std::vector<int64_t> start, least;
  std::vector<int64_t> cells;
};

class PrunedReplay {
 public:
  PrunedReplay(const Plan& plan, const CostTables& costs, Left left)
      : plan_(plan), tables_(costs), left_(std::move(left)) {
    limit_ = plan.lower_bound - 1 - left_.least;
    rank_.assign(costs.sizes.size(), -1);
    for (size_t i = plan.proof.plain; i < plan.proof.order.size(); ++i) {
      rank_[plan.proof.order[i]] = static_cast<int>(steps_.size());
      steps_.emplace_back();
      steps_.back().element = plan.proof.order[i];
    }
  }

  absl::StatusOr<int64_t> Run() {
    for (CheckTable& table : tables_.OneOfEachScope(std::move(left_.tables)))
      Place(std::move(table));
    for (size_t s = 0; s < steps_.size(); ++s) YUBA_RETURN_IF_ERROR(Up(static_cast<int>(s)));
    for (size_t s = steps_.size(); s-- > 0;) Down(&steps_[s]);
    int64_t total = 0;  // of the parts of the graph
    for (Step& step : steps_) {
      YUBA_RETURN_IF_ERROR(Prune(&step));
      if (step.cells.empty()) return plan_.lower_bound;
      if (step.scope.empty()) total += step.cells[0];
      for (int before : step.before) steps_[before].cells = {};
    }
    return left_.least + total;
  }

 private:
  int Grids(int element) const { return tables_.Grids(element); }

  void AddScope(Step* step, const std::vector<int>& scope) const {
    for (int e : scope) {
      if (e != step->element && !std::count(step->scope.begin(), step->scope.end(), e)) {
        step->scope.push_back(e);
      }
    }
  }

  void Place(CheckTable table) {
    Step* step = nullptr;
    for (int e : table.scope) {
      if (step == nullptr || rank_[e] < rank_[step->element]) step = &steps_[rank_[e]];
    }
    AddScope(step, table.scope);
    step->grids.push_back(tables_.ByGrid(table));
    step->cuts.push_back(std::move(table));
  }

  absl::Status Up(int s) {
    Step& step = steps_[s];
    std::sort(step.scope.begin(), step.scope.end(),
              [this](int a, int b) { return rank_[a] > rank_[b]; });
    int64_t size = Grids(step.element);
    for (int e : step.scope) {
      if (__builtin_mul_overflow(size, int64_t{Grids(e)}, &size) || size > kMostCells) {
        return absl::FailedPreconditionError("the proof needs tables that are too large");
      }
    }
    std::vector<CheckTable> tables = step.grids;
    for (int before : step.before) tables.push_back({steps_[before].scope, steps_[before].up});
    step.up = std::make_shared<const std::vector<int64_t>>(
        tables.empty() ? std::vector<int64_t>(1, 0)
                       : LeastSums(step.scope, step.element, tables, tables_.coarse()));
    if (step.scope.empty()) {
      parts_ += (*step.up)[0];
    } else {
      Step& next = steps_[rank_[step.scope.back()]];
      next.before.push_back(s);
      AddScope(&next, step.scope);
    }
    return absl::OkStatus();
  }

  static std::vector<int> Joint(const Step& step) {
    std::vector<int> joint = step.scope;
    joint.push_back(step.element);
    return joint;
  }

  // What the results that meet here do not contain: `down` of their steps.
  void Down(Step* step) {
    if (step->scope.empty()) {
      step->down = std::make_shared<const std::vector<int64_t>>(1, parts_ - (*step->up)[0]);
    }
    if (step->before.empty()) return;
    const std::vector<int> joint = Joint(*step);
    std::vector<int> sizes, value(joint.size(), 0);
    for (int e : joint) sizes.push_back(Grids(e));
    std::vector<std::pair<std::vector<int>, const int64_t*>> tables;
    for (int b : step->before)
      tables.push_back({PlacesIn(joint, steps_[b].scope), steps_[b].up->data()});
    for (const CheckTable& table : step->grids) {
      tables.push_back({PlacesIn(joint, table.scope), table.cells->data()});
    }
    std::vector<std::vector<int64_t>> rest;
    for (int b : step->before) rest.emplace_back(steps_[b].up->size(), kGone);
    std::vector<int64_t> at(tables.size());
    int64_t joint_at = 0;
    do {
      int64_t sum = (*step->down)[joint_at++ / sizes.back()];
      for (size_t t = 0; t < tables.size(); ++t) {
        at[t] = CellOf(tables[t].first, sizes, value);
        sum += tables[t].second[at[t]];
      }
      for (size_t b = 0; b < rest.size(); ++b) {
        rest[b][at[b]] = std::min(rest[b][at[b]], sum - tables[b].second[at[b]]);
      }
    } while (NextValues(sizes, &value));
    for (size_t b = 0; b < rest.size(); ++b) {
      steps_[step->before[b]].down =
          std::make_shared<const std::vector<int64_t>>(std::move(rest[b]));
    }
  }

  // Where the tables that meet in a step are in its joint scope.
  struct Layout {
    std::vector<int> joint, sizes;
    std::vector<std::vector<int>> cuts, before;  // places, by table
  };

  Layout LayoutOf(const Step& step) const {
    Layout layout;
    layout.joint = Joint(step);
    for (int e : layout.joint) layout.sizes.push_back(Grids(e));
    for (const CheckTable& table : step.cuts)
      layout.cuts.push_back(PlacesIn(layout.joint, table.scope));
    for (int b : step.before) layout.before.push_back(PlacesIn(layout.joint, steps_[b].scope));
    return layout;
  }

  // The step by cuts: only sums that with the least of all else stay within the limit.
  absl::Status Prune(Step* step) {
    const Layout layout = LayoutOf(*step);
    const std::vector<int> sizes(layout.sizes.begin(), layout.sizes.end() - 1);
    std::vector<int> grid(layout.joint.size(), 0);
    step->start.assign(step->up->size(), -1);
    step->least.assign(step->up->size(), kGone);
    for (size_t tuple = 0; tuple < step->up->size(); ++tuple) {
      if ((*step->up)[tuple] + (*step->down)[tuple] <= limit_) Block(step, layout, tuple, &grid);
      if (static_cast<int64_t>(step->cells.size()) > kMostCells) {
        return absl::FailedPreconditionError("the proof keeps too many cells");
      }
      std::vector<int> scope_grid(grid.begin(), grid.end() - 1);
      NextValues(sizes, &scope_grid);
      std::copy(scope_grid.begin(), scope_grid.end(), grid.begin());
    }
    return absl::OkStatus();
  }

  // The least sums for all cuts of the scope's grids, if any is within the limit.
  void Block(Step* step, const Layout& layout, size_t tuple, std::vector<int>* grid) {
    const int64_t budget = limit_ - (*step->down)[tuple];
    std::vector<int> cheap;  // grids of the element
    for (int g = 0; g < Grids(step->element); ++g) {
      grid->back() = g;
      if (IsCheap(*step, layout, *grid, budget)) cheap.push_back(g);
    }
    if (cheap.empty()) return;
    const std::vector<CheckTable> tables = InBlock(*step, layout, *grid, cheap);
    std::vector<int> scope;  // places in the joint
    Renamings renamed;       // by place
    for (size_t i = 0; i + 1 < layout.joint.size(); ++i) {
      scope.push_back(static_cast<int>(i));
      renamed.push_back(tables_.RenamedIn(layout.joint[i], (*grid)[i]));
    }
    renamed.push_back(Unnamed(tables_.CountIn(step->element, cheap)));
    std::vector<int64_t> block =
        LeastSums(scope, static_cast<int>(scope.size()), tables, renamed, budget);
    const int64_t least = *std::min_element(block.begin(), block.end());
    if (least > budget) return;
    for (int64_t& cost : block) cost = cost > budget ? kGone : cost;
    step->start[tuple] = static_cast<int64_t>(step->cells.size());
    step->least[tuple] = least;
    step->cells.insert(step->cells.end(), block.begin(), block.end());
  }

  bool IsCheap(const Step& step, const Layout& layout, const std::vector<int>& grid,
               int64_t budget) const {
    int64_t sum = 0;
    for (size_t t = 0; t < step.grids.size(); ++t) {
      sum += (*step.grids[t].cells)[CellOf(layout.cuts[t], layout.sizes, grid)];
    }
    for (size_t b = 0; b < step.before.size(); ++b) {
      sum += steps_[step.before[b]].least[CellOf(layout.before[b], layout.sizes, grid)];
      if (sum > budget) return false;
    }
    return sum <= budget;
  }

  // The tables that meet in a step, over places in the joint: of the scope the cuts of these grids,
  // of the element those of all grids in `cheap`.
  std::vector<CheckTable> InBlock(const Step& step, const Layout& layout,
                                  const std::vector<int>& grid,
                                  const std::vector<int>& cheap) const {
    std::vector<int> all;  // cuts of the element
    for (int g : cheap) {
      const std::vector<int>& cuts = tables_.CutsOf(step.element, g);
      all.insert(all.end(), cuts.begin(), cuts.end());
    }
    std::vector<CheckTable> tables;
    for (size_t t = 0; t < step.cuts.size(); ++t) {
      std::vector<const std::vector<int>*> cuts;
      for (size_t i = 0; i < step.cuts[t].scope.size(); ++i) {
        const int e = step.cuts[t].scope[i];
        cuts.push_back(e == step.element ? &all : &tables_.CutsOf(e, grid[layout.cuts[t][i]]));
      }
      tables.push_back({layout.cuts[t], tables_.OfCuts(step.cuts[t], cuts)});
    }
    for (size_t b = 0; b < step.before.size(); ++b) {
      tables.push_back({layout.before[b], OfBlocks(step, layout, b, grid, cheap)});
    }
    return tables;
  }

  // What the step before number `b` has kept of its blocks, side by side. The element is the last
  // of its scope.
  CheckTable::Cells OfBlocks(const Step& step, const Layout& layout, size_t b,
                             const std::vector<int>& grid, const std::vector<int>& cheap) const {
    const Step& before = steps_[step.before[b]];
    const std::vector<int>& places = layout.before[b];
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < places.size(); ++i) {
      rows *= static_cast<int64_t>(tables_.CutsOf(layout.joint[places[i]], grid[places[i]]).size());
    }
    const int64_t columns = tables_.CountIn(step.element, cheap);
    auto cells = std::make_shared<std::vector<int64_t>>(rows * columns, kGone);
    std::vector<int> here = grid;
    int64_t column = 0;
    for (const int g : cheap) {
      here.back() = g;
      const int64_t start = before.start[CellOf(places, layout.sizes, here)];
      const auto width = static_cast<int64_t>(tables_.CutsOf(step.element, g).size());
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
  Left left_;
  int64_t limit_ = 0;
  std::vector<int> rank_;  // by element: its step
  std::vector<Step> steps_;
  int64_t parts_ = 0;
};

}  // namespace

absl::StatusOr<int64_t> ReplayDeepening(const Graph& graph, const Plan& plan) {
  const int64_t count = static_cast<int64_t>(plan.proof.order.size());
  if (plan.proof.plain < 0 || plan.proof.plain > count) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the proof eliminates ", plan.proof.plain, " elements plainly, but its order has ", count));
  }
  YUBA_ASSIGN_OR_RETURN(CostTables costs, MakeCostTables(graph, plan.mesh, plan.space));
  YUBA_ASSIGN_OR_RETURN(Left left,
                        EliminatePlainly(graph, plan, costs, TablesOf(costs), plan.proof.plain));
  return PrunedReplay(plan, costs, std::move(left)).Run();
}

}  // namespace yuba
