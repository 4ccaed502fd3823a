#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "search/engines/anchored_choices.h"
#include "search/engines/engine.h"
#include "search/model/ties.h"
#include "search/solve/dual.h"
#include "search/solve/solve.h"

namespace yuba::search {
namespace {

// The best plans of chains have the period of one block, or of two: a chain of products is cut over
// rows and columns by turns.
constexpr int kPeriods[] = {1, 2};
// On grids 2 alone: there, axes of period 1 are tried anyway (AssignAxes).
constexpr int kPeriodOfGrids = 2;
// Where grids were tiled from a few blocks, axes of period 2 for them mostly end nearer the bound
// than for those of the tied relaxation. Farther above it than 1 %, both are tried.
constexpr int64_t kNearTiled = 101;
constexpr int kSweeps = 100;  // of the dual of the tied relaxation, which is small
// With more cells in all tables, of which it has copies of its own, it is not: of Llama-3-8B on 8
// nodes of 8 devices for time it took 13 GB, and axes were no better than for the tiled grids.
constexpr int64_t kMostCells = int64_t{1} << 27;
// A tied problem of at most this part of the variables stands for the whole: searches of the whole
// that do not begin from its plan find nothing better.
constexpr size_t kSmallPart = 2;

// [variable of the tied problem]: the value of the first of the variables that it stands for.
Assignment TiedValues(const Assignment& values, const std::vector<int>& numbers) {
  Assignment tied;
  for (size_t v = 0; v < numbers.size(); ++v) {
    if (numbers[v] == static_cast<int>(tied.size())) tied.push_back(values[v]);
  }
  return tied;
}

// The best assignment of the problem in which variables of one number choose alike.
Assignment SolveTied(Task& task, const Incumbent& incumbent, const std::vector<int>& numbers,
                     int period) {
  const Problem& problem = task.problem();
  const int64_t cells = task.options().table_cells;
  const PairwiseProblem tied = Tied(problem.pairwise, numbers);
  const auto order = GreedyOrder(tied, cells, task.budget());
  absl::optional<Solution> solution;
  if (order.has_value() && order->sums <= kSoonSums) {
    solution = Eliminate(tied, order->variables, task.budget());
  }
  if (!solution.has_value()) {
    std::vector<Choices> starts = incumbent.starts();
    absl::optional<Choices> anchored = AnchoredChoices(task, period);
    if (anchored.has_value()) starts.push_back(*std::move(anchored));
    std::vector<Assignment> values = {Assignment(tied.variables.size(), 0)};
    for (const Choices& start : starts) {
      values.push_back(TiedValues(problem.ValuesOf(start), numbers));
    }
    solution = SolveLocally(tied, values, {}, task.budget());
  }
  Assignment assignment;
  for (const int number : numbers) assignment.push_back(solution->assignment[number]);
  return assignment;
}

// [element]: grids that the dual of the tied relaxation to grids likes, the best first. Empty where
// too little repeats, or the budget is spent.
std::vector<std::vector<Grid>> TiedGrids(Task& task, int period) {
  const SearchOptions& options = task.options();
  const absl::optional<GridProblem> grids =
      BuildGridProblem(task.graph(), options.mesh, task.uses(), false, task.budget(),
                       options.table_cache.get(), task.restrictions(), CopyNodes::kAsTheirCopy);
  if (!grids.has_value() || !grids->complete) return {};
  const VariableMap variables = VariablesOf(*grids);
  const std::vector<int> numbers =
      TiedVariables(variables, NextRepetition(task.graph(), variables), period);
  std::set<Cells> tables;
  int64_t cells = 0;
  for (const Factor& factor : grids->pairwise.factors) {
    if (tables.insert(factor.cells).second) cells += static_cast<int64_t>(factor.cells->size());
  }
  if (cells > kMostCells) return {};
  const PairwiseProblem tied = Tied(grids->pairwise, numbers);
  if (!FewRemain(tied.variables.size(), numbers.size())) return {};
  if (kSmallPart * tied.variables.size() <= numbers.size()) task.repeats = true;
  std::vector<int> order(tied.variables.size());  // as in the graph
  std::iota(order.begin(), order.end(), 0);
  DualOptions sweeps;
  sweeps.sweeps = kSweeps;
  const Dual dual = MaximiseDual(tied, order, sweeps, task.budget());
  std::vector<std::vector<Grid>> likely(numbers.size());
  for (size_t e = 0; e < numbers.size(); ++e) {
    for (const int value : dual.likely[numbers[grids->variable[e]]])
      likely[e].push_back((*grids->grids[e])[value]);
  }
  return likely;
}

}  // namespace

void SolveRepeated(Task& task, Incumbent& incumbent) {
  const Problem& problem = task.problem();
  const VariableMap variables = VariablesOf(problem);
  const std::vector<int> next = NextRepetition(task.graph(), variables);
  for (const int period : kPeriods) {
    const std::vector<int> numbers = TiedVariables(variables, next, period);
    const size_t tied = 1 + *std::max_element(numbers.begin(), numbers.end());
    if (!FewRemain(tied, numbers.size()) || task.budget().ShouldStop()) break;
    if (kSmallPart * tied <= numbers.size()) task.repeats = true;
    incumbent.Offer(problem.ChoicesOf(SolveTied(task, incumbent, numbers, period)));
  }
}

void RepeatAxes(Task& task, Incumbent& incumbent) {
  const auto offer = [&](const std::vector<std::vector<Grid>>& grids) {
    if (grids.empty()) return;
    incumbent.Offer(AssignAxes(task.graph(), AxisOptionsOf(task, incumbent), task.uses(), grids,
                               task.restrictions(), kPeriodOfGrids));
  };
  if (task.tiled) {
    task.repeats = true;
    offer(task.likely_grids);
    if (incumbent.IsWithin(kNearTiled)) return;
  }
  offer(TiedGrids(task, kPeriodOfGrids));
}

}  // namespace yuba::search
