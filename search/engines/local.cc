#include <algorithm>
#include <limits>
#include <numeric>

#include "search/engines/anchored_choices.h"
#include "search/engines/engine.h"
#include "search/model/ties.h"
#include "search/rewrite/canonical.h"
#include "search/solve/anchored_dual.h"
#include "search/solve/solve.h"

namespace yuba::search {

void SearchAround(Task& task, Incumbent& incumbent) {
  const Problem& problem = task.problem();
  std::vector<Assignment> starts;
  for (const Choices& start : incumbent.starts()) starts.push_back(problem.ValuesOf(start));
  if (starts.empty()) starts.emplace_back(problem.pairwise.variables.size(), 0);
  const Solution found = SolveLocally(problem.pairwise, starts, {}, task.budget());
  incumbent.Offer(problem.ChoicesOf(found.assignment));
}

absl::optional<Choices> AnchoredChoices(Task& task, int period) {
  // Messages go between single tensors and nodes: with clusters plans come out 1 to 2 % dearer.
  ProblemOptions options = AllAxesOf(task.options(), task.restrictions(), task.budget());
  options.cluster = false;
  const Problem single = BuildProblem(task.graph(), options);
  if (!single.complete) return absl::nullopt;
  std::vector<int> numbers(single.elements.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  if (period > 0) {
    const VariableMap variables = VariablesOf(single);
    numbers = TiedVariables(variables, NextRepetition(task.graph(), variables), period);
  }
  const PairwiseProblem tied = period > 0 ? Tied(single.pairwise, numbers) : single.pairwise;
  std::vector<int> places(tied.variables.size(), std::numeric_limits<int>::max());
  for (size_t v = 0; v < numbers.size(); ++v) {
    int& place = places[numbers[v]];
    place = std::min(place, ProgramPosition(task.graph(), single.elements[v]));
  }
  std::vector<int> order(tied.variables.size());  // by place in a program
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return places[a] < places[b]; });
  const absl::optional<Assignment> preferred = PreferredByAnchoredDual(tied, order, task.budget());
  if (!preferred.has_value()) return absl::nullopt;
  Assignment assignment;
  for (const int number : numbers) assignment.push_back((*preferred)[number]);
  return single.ChoicesOf(assignment);
}

void FollowAnchoredDual(Task& task, Incumbent& incumbent) {
  const absl::optional<Choices> preferred = AnchoredChoices(task, 0);
  if (!preferred.has_value()) return;
  const Problem& problem = task.problem();
  const Solution found =
      SolveLocally(problem.pairwise, {problem.ValuesOf(*preferred)}, {}, task.budget());
  incumbent.Offer(problem.ChoicesOf(found.assignment));
}

}  // namespace yuba::search
