#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "search/check_bound.h"

namespace yuba {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 27;
constexpr int64_t kGone = std::numeric_limits<int64_t>::max() / 64;  // can be added a few times

using Values = std::shared_ptr<const std::vector<int64_t>>;

// The cuts of an element by grid.
struct Cuts {
  std::vector<std::vector<int>> of_grid;
  std::vector<int> grid, place;  // by cut
};

// One step. `scope`: elements that go later, the last of them first; then `element` is the last of
// the joint scope.
struct Step {
  int element = 0;
  std::vector<int> scope;
  std::vector<CheckTable> cuts;   // costs by cut that meet here
  std::vector<CheckTable> grids;  // the least of them by grid
  std::vector<int> before;        // steps whose results meet here
  Values up, down;  // by grids of the scope: the least cost of what is gone, and of the rest
  // By grids of the scope: where its block of `cells` starts (-1: all too dear), and the least in
  // it.
  std::vector<int64_t> start, least;
  std::vector<int64_t> cells;
};

class PrunedReplay {
 public:
  PrunedReplay(const Plan& plan, const CostTables& costs, Left left)
      : plan_(plan), costs_(costs), left_(std::move(left)) {
    limit_ = plan.lower_bound - 1 - left_.least;
    rank_.assign(costs.sizes.size(), -1);
    for (size_t i = plan.proof.plain; i < plan.proof.order.size(); ++i) {
      rank_[plan.proof.order[i]] = static_cast<int>(steps_.size());
      steps_.emplace_back();
      steps_.back().element = plan.proof.order[i];
    }
    for (const auto& grids : costs.grids) cuts_.push_back(CutsOf(*grids));
    for (const Cuts& cuts : cuts_) {
      coarse_.push_back(std::make_shared<const std::vector<std::vector<int>>>(
          1, std::vector<int>(cuts.of_grid.size(), 0)));
    }
  }

  absl::StatusOr<int64_t> Run() {
    for (CheckTable& table : left_.tables) Place(std::move(table));
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
  static Cuts CutsOf(const std::vector<int>& grids) {
    Cuts cuts;
    cuts.grid = grids;
    for (size_t cut = 0; cut < grids.size(); ++cut) {
      if (grids[cut] >= static_cast<int>(cuts.of_grid.size())) cuts.of_grid.resize(grids[cut] + 1);
      cuts.place.push_back(static_cast<int>(cuts.of_grid[grids[cut]].size()));
      cuts.of_grid[grids[cut]].push_back(static_cast<int>(cut));
    }
    return cuts;
  }

  int Grids(int element) const { return static_cast<int>(cuts_[element].of_grid.size()); }

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
    step->grids.push_back(ByGrid(table));
    step->cuts.push_back(std::move(table));
  }

  CheckTable ByGrid(const CheckTable& table) {
    std::vector<const void*> key = {table.cells.get()};
    int64_t size = 1;
    for (int e : table.scope) {
      key.push_back(costs_.grids[e].get());
      size *= Grids(e);
    }
    Values& known = by_grid_[key];
    if (known == nullptr) {
      std::vector<int64_t> least(size, std::numeric_limits<int64_t>::max());
      std::vector<int> cut(table.scope.size(), 0);
      for (int64_t cost : *table.cells) {
        int64_t at = 0;
        for (size_t i = 0; i < cut.size(); ++i) {
          at = at * Grids(table.scope[i]) + cuts_[table.scope[i]].grid[cut[i]];
        }
        least[at] = std::min(least[at], cost);
        for (size_t i = cut.size(); i-- > 0;) {
          if (++cut[i] < costs_.sizes[table.scope[i]]) break;
          cut[i] = 0;
        }
      }
      known = std::make_shared<const std::vector<int64_t>>(std::move(least));
    }
    return {table.scope, known};
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
                       : LeastSums(step.scope, step.element, tables, coarse_));
    if (step.scope.empty()) {
      parts_ += (*step.up)[0];
    } else {
      Step& next = steps_[rank_[step.scope.back()]];
      next.before.push_back(s);
      AddScope(&next, step.scope);
    }
    return absl::OkStatus();
  }

  // Steps through all assignments of `sizes`, and keeps a place in a table up to date.
  static bool Next(const std::vector<int>& sizes, std::vector<int>* value) {
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++(*value)[d] < sizes[d]) return true;
      (*value)[d] = 0;
    }
    return false;
  }

  // The place of the joint values in a table over `scope`, of extents `sizes` by place in the
  // joint.
  static int64_t At(const std::vector<int>& places, const std::vector<int>& sizes,
                    const std::vector<int>& value) {
    int64_t at = 0;
    for (int place : places) at = at * sizes[place] + value[place];
    return at;
  }

  static std::vector<int> Joint(const Step& step) {
    std::vector<int> joint = step.scope;
    joint.push_back(step.element);
    return joint;
  }

  static std::vector<int> Places(const std::vector<int>& joint, const std::vector<int>& scope) {
    std::vector<int> places;
    for (int e : scope) {
      places.push_back(static_cast<int>(std::find(joint.begin(), joint.end(), e) - joint.begin()));
    }
    return places;
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
      tables.push_back({Places(joint, steps_[b].scope), steps_[b].up->data()});
    for (const CheckTable& table : step->grids) {
      tables.push_back({Places(joint, table.scope), table.cells->data()});
    }
    std::vector<std::vector<int64_t>> rest;
    for (int b : step->before) rest.emplace_back(steps_[b].up->size(), kGone);
    std::vector<int64_t> at(tables.size());
    int64_t joint_at = 0;
    do {
      int64_t sum = (*step->down)[joint_at++ / sizes.back()];
      for (size_t t = 0; t < tables.size(); ++t) {
        at[t] = At(tables[t].first, sizes, value);
        sum += tables[t].second[at[t]];
      }
      for (size_t b = 0; b < rest.size(); ++b) {
        rest[b][at[b]] = std::min(rest[b][at[b]], sum - tables[b].second[at[b]]);
      }
    } while (Next(sizes, &value));
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
      layout.cuts.push_back(Places(layout.joint, table.scope));
    for (int b : step.before) layout.before.push_back(Places(layout.joint, steps_[b].scope));
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
      Next(sizes, &scope_grid);
      std::copy(scope_grid.begin(), scope_grid.end(), grid.begin());
    }
    return absl::OkStatus();
  }

  void Block(Step* step, const Layout& layout, size_t tuple, std::vector<int>* grid) {
    const std::vector<int>& joint = layout.joint;
    const int64_t budget = limit_ - (*step->down)[tuple];
    std::vector<int> extents;  // by place in the joint: cuts of its grid
    int64_t size = 1;
    for (size_t i = 0; i + 1 < joint.size(); ++i) {
      extents.push_back(static_cast<int>(cuts_[joint[i]].of_grid[(*grid)[i]].size()));
      size *= extents.back();
    }
    std::vector<int64_t> block(size, kGone);
    for (int g = 0; g < Grids(step->element); ++g) {
      grid->back() = g;
      extents.resize(joint.size() - 1);
      extents.push_back(static_cast<int>(cuts_[step->element].of_grid[g].size()));
      if (IsCheap(*step, layout, *grid, budget)) {
        Sums(*step, layout, *grid, extents, budget, &block);
      }
    }
    int64_t least = *std::min_element(block.begin(), block.end());
    if (least > budget) return;
    step->start[tuple] = static_cast<int64_t>(step->cells.size());
    step->least[tuple] = least;
    step->cells.insert(step->cells.end(), block.begin(), block.end());
  }

  bool IsCheap(const Step& step, const Layout& layout, const std::vector<int>& grid,
               int64_t budget) const {
    int64_t sum = 0;
    for (size_t t = 0; t < step.grids.size(); ++t) {
      sum += (*step.grids[t].cells)[At(layout.cuts[t], layout.sizes, grid)];
    }
    for (size_t b = 0; b < step.before.size(); ++b) {
      sum += steps_[step.before[b]].least[At(layout.before[b], layout.sizes, grid)];
      if (sum > budget) return false;
    }
    return sum <= budget;
  }

  // A table as it is read inside one block: where each label of each place leads.
  struct Reading {
    const int64_t* cells;
    std::vector<std::vector<int64_t>> steps;  // by place in the joint, then label
  };

  std::vector<Reading> Readings(const Step& step, const Layout& layout,
                                const std::vector<int>& grid,
                                const std::vector<int>& extents) const {
    const std::vector<int>& joint = layout.joint;
    std::vector<Reading> readings;
    for (size_t t = 0; t < step.cuts.size(); ++t) {
      const CheckTable& table = step.cuts[t];
      Reading reading = {table.cells->data(), std::vector<std::vector<int64_t>>(joint.size())};
      int64_t stride = 1;
      for (size_t i = table.scope.size(); i-- > 0;) {
        int place = layout.cuts[t][i];
        for (int cut : cuts_[table.scope[i]].of_grid[grid[place]]) {
          reading.steps[place].push_back(cut * stride);
        }
        stride *= costs_.sizes[table.scope[i]];
      }
      readings.push_back(std::move(reading));
    }
    for (size_t b = 0; b < step.before.size(); ++b) {
      const Step& before = steps_[step.before[b]];
      const std::vector<int>& places = layout.before[b];
      Reading reading = {before.cells.data() + before.start[At(places, layout.sizes, grid)],
                         std::vector<std::vector<int64_t>>(joint.size())};
      int64_t stride = 1;
      for (size_t i = places.size(); i-- > 0;) {
        for (int label = 0; label < extents[places[i]]; ++label) {
          reading.steps[places[i]].push_back(label * stride);
        }
        stride *= extents[places[i]];
      }
      readings.push_back(std::move(reading));
    }
    return readings;
  }

  // The least sums for all cuts of these grids, the element being cut by the last of them. What
  // renaming leads to is not computed again.
  void Sums(const Step& step, const Layout& layout, const std::vector<int>& grid,
            const std::vector<int>& extents, int64_t budget, std::vector<int64_t>* block) const {
    const std::vector<int>& joint = layout.joint;
    std::vector<Reading> readings = Readings(step, layout, grid, extents);
    const size_t last = joint.size() - 1;
    std::vector<int> label(last, 0), scope_extents(extents.begin(), extents.end() - 1);
    std::vector<const int64_t*> row(readings.size());
    size_t cell = 0;
    do {
      if (last == 0 || IsLeast(joint[0], cuts_[joint[0]].of_grid[grid[0]][label[0]])) {
        for (size_t r = 0; r < readings.size(); ++r) {
          row[r] = readings[r].cells;
          for (size_t d = 0; d < last; ++d) {
            if (!readings[r].steps[d].empty()) row[r] += readings[r].steps[d][label[d]];
          }
        }
        int64_t least = kGone;
        for (int i = 0; i < extents[last]; ++i) {
          int64_t sum = 0;
          for (size_t r = 0; r < readings.size(); ++r) sum += row[r][readings[r].steps[last][i]];
          least = std::min(least, sum);
        }
        if (least <= budget && least < (*block)[cell])
          Keep(joint, grid, scope_extents, label, least, block);
      }
      ++cell;
    } while (Next(scope_extents, &label));
  }

  bool IsLeast(int element, int cut) const {
    for (const std::vector<int>& to : *costs_.renamed[element]) {
      if (to[cut] < cut) return false;
    }
    return true;
  }

  // For all renamings of the scope's cuts.
  void Keep(const std::vector<int>& joint, const std::vector<int>& grid,
            const std::vector<int>& extents, const std::vector<int>& label, int64_t cost,
            std::vector<int64_t>* block) const {
    const size_t renamings = costs_.renamed[joint[0]]->size();
    for (size_t g = 0; g < renamings; ++g) {
      int64_t at = 0;
      for (size_t d = 0; d < extents.size(); ++d) {
        int cut = cuts_[joint[d]].of_grid[grid[d]][label[d]];
        at = at * extents[d] + cuts_[joint[d]].place[(*costs_.renamed[joint[d]])[g][cut]];
      }
      (*block)[at] = std::min((*block)[at], cost);
    }
  }

  const Plan& plan_;
  const CostTables& costs_;
  Left left_;
  int64_t limit_ = 0;
  std::vector<int> rank_;  // by element: its step
  std::vector<Step> steps_;
  std::vector<Cuts> cuts_;  // by element
  Renamings coarse_;        // by element: as many values as grids, nothing renamed
  std::map<std::vector<const void*>, Values> by_grid_;
  int64_t parts_ = 0;
};

}  // namespace

absl::StatusOr<int64_t> ReplayDeepening(const Graph& graph, const Plan& plan) {
  const int64_t count = static_cast<int64_t>(plan.proof.order.size());
  if (plan.proof.plain < 0 || plan.proof.plain > count) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the proof eliminates ", plan.proof.plain, " elements plainly, but its order has ", count));
  }
  YUBA_ASSIGN_OR_RETURN(CostTables costs,
                        MakeCostTables(graph, plan.mesh, plan.space));
  YUBA_ASSIGN_OR_RETURN(Left left, EliminatePlainly(graph, plan, costs, TablesOf(costs), plan.proof.plain));
  return PrunedReplay(plan, costs, std::move(left)).Run();
}

}  // namespace yuba
