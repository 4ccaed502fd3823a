#include <algorithm>
#include <utility>
#include <vector>

#include "search/engines/anchored_choices.h"
#include "search/engines/engine.h"
#include "search/model/ties.h"
#include "search/solve/solve.h"

namespace yuba::search {
namespace {

// The best plans of chains have the period of one block, or of two: a chain of products is cut over
// rows and columns by turns.
constexpr int kPeriods[] = {1, 2};
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
    solution = SolveLocally(tied, values, cells, task.budget());
  }
  Assignment assignment;
  for (const int number : numbers) assignment.push_back(solution->assignment[number]);
  return assignment;
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
  // With period 1, parts with equal surroundings are cut alike: that is where axes begin.
  incumbent.Offer(task.axes->Repeat(2));
}

}  // namespace yuba::search
