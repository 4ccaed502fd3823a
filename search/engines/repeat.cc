#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "search/engines/anchored_choices.h"
#include "search/engines/engine.h"
#include "search/model/ties.h"
#include "search/solve/dual.h"
#include "search/solve/few_values.h"
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

// [number]: the likeliest values of the variables with that number together, the best first. Each
// variable gives points to its own likely values, most to the first; `likely`: [variable], the best
// first. As many are taken as the variable with most of them has.
std::vector<std::vector<int>> LikelyOfTied(const std::vector<std::vector<int>>& likely,
                                           const std::vector<int>& numbers) {
  size_t most = 0;
  for (const std::vector<int>& values : likely) most = std::max(most, values.size());
  std::vector<std::map<int, int>> points(1 + *std::max_element(numbers.begin(), numbers.end()));
  for (size_t v = 0; v < numbers.size(); ++v) {
    for (size_t rank = 0; rank < likely[v].size(); ++rank) {
      points[numbers[v]][likely[v][rank]] -= static_cast<int>(most - rank);
    }
  }
  std::vector<std::vector<int>> of_tied;
  for (const std::map<int, int>& of_number : points) {
    std::vector<std::pair<int, int>> ranked;  // least first
    for (const auto& [value, less] : of_number) ranked.push_back({less, value});
    std::sort(ranked.begin(), ranked.end());
    of_tied.emplace_back();
    for (size_t i = 0; i < std::min(most, ranked.size()); ++i) {
      of_tied.back().push_back(ranked[i].second);
    }
  }
  return of_tied;
}

// [element]: grids that the dual of the tied relaxation to likely grids prefers, the best first.
// Empty where too little repeats, or the budget is spent.
std::vector<std::vector<Grid>> TiedGrids(Task& task, int period) {
  if (task.likely_values.empty()) return {};
  const SearchOptions& options = task.options();
  const absl::optional<GridProblem> grids =
      BuildGridProblem(task.graph(), options.mesh, task.uses(), false, task.budget(),
                       options.table_cache.get(), task.restrictions(), CopyNodes::kAsTheirCopy);
  if (!grids.has_value() || !grids->complete) return {};
  const VariableMap variables = VariablesOf(*grids);
  const std::vector<int> numbers =
      TiedVariables(variables, NextRepetition(task.graph(), variables), period);
  std::vector<std::vector<int>> likely = task.likely_values;  // variables are numbered as elements
  const std::vector<std::vector<int>> of_tied = LikelyOfTied(likely, numbers);
  for (size_t v = 0; v < numbers.size(); ++v) likely[v] = of_tied[numbers[v]];
  const PairwiseProblem tied = Tied(OfFewValues(grids->pairwise, likely), numbers);
  if (!FewRemain(tied.variables.size(), numbers.size())) return {};
  if (kSmallPart * tied.variables.size() <= numbers.size()) task.repeats = true;
  std::vector<int> order(tied.variables.size());  // as in the graph
  std::iota(order.begin(), order.end(), 0);
  DualOptions sweeps;
  sweeps.sweeps = kSweeps;
  const Dual dual = MaximiseDual(tied, order, sweeps, task.budget());
  std::vector<std::vector<Grid>> preferred(numbers.size());
  for (size_t e = 0; e < numbers.size(); ++e) {
    const int number = numbers[grids->variable[e]];
    for (const int value : dual.likely[number]) {
      preferred[e].push_back((*grids->grids[e])[of_tied[number][value]]);
    }
  }
  return preferred;
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
