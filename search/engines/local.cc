#include <algorithm>
#include <numeric>
#include <utility>

#include "search/engines/engine.h"
#include "search/model/recursion.h"
#include "search/rewrite/canonical.h"
#include "search/solve/anchored_dual.h"
#include "search/solve/solve.h"

namespace yuba::search {

void SearchAround(Task& task, Incumbent& incumbent) {
  const Problem& problem = task.problem();
  std::vector<Assignment> starts;
  for (const Choices& start : incumbent.starts()) starts.push_back(problem.ValuesOf(start));
  if (starts.empty()) starts.emplace_back(problem.pairwise.variables.size(), 0);
  const Solution found = SolveApproximately(task.graph(), problem, std::move(starts),
                                            task.options().table_cells, task.budget());
  incumbent.Offer(problem.ChoicesOf(found.assignment));
}

void FollowAnchoredDual(Task& task, Incumbent& incumbent) {
  // Messages go between single tensors and nodes: with clusters plans come out 1 to 2 % dearer.
  ProblemOptions options = AllAxesOf(task.options(), task.restrictions(), task.budget());
  options.cluster = false;
  const Problem single = BuildProblem(task.graph(), options);
  if (!single.complete) return;
  std::vector<int> order(single.elements.size());  // by place in a program
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return ProgramPosition(task.graph(), single.elements[a]) <
           ProgramPosition(task.graph(), single.elements[b]);
  });
  const absl::optional<Assignment> preferred =
      PreferredByAnchoredDual(single.pairwise, order, task.budget());
  if (!preferred.has_value()) return;
  const Problem& problem = task.problem();
  const Assignment start = problem.ValuesOf(single.ChoicesOf(*preferred));
  const Solution found =
      SolveLocally(problem.pairwise, {start}, task.options().table_cells, task.budget());
  incumbent.Offer(problem.ChoicesOf(found.assignment));
}

}  // namespace yuba::search
