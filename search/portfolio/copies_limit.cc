#include "search/portfolio/copies_limit.h"

#include <algorithm>
#include <vector>

#include "search/model/grid_classes.h"
#include "search/model/plan_problem.h"
#include "search/rows/prices.h"
#include "search/solve/budget.h"

namespace yuba::search {
namespace {

// Targets for the rows. A program needs up to some thousandths more than its rows, so the next
// target is lower by what it needs above the limit, then by twice that, and so on.
constexpr int kTargets = 6;

int64_t NeededBy(const Graph& graph, const Plan& plan, const SearchOptions& options) {
  return options.memory_of ? options.memory_of(graph, plan) : PeakOfPlan(graph, plan);
}

// The plan of that assignment of its copies.
Plan PlanFor(const Problem& problem, const Assignment& assignment, const Graph& graph, Plan plan) {
  const Choices choices = problem.ChoicesOf(assignment);
  const auto middle = choices.begin() + static_cast<int64_t>(plan.tensors.size());
  plan.tensors.assign(choices.begin(), middle);
  plan.nodes.assign(middle, choices.end());
  plan.cost = CostOf(graph, plan);
  return plan;
}

}  // namespace

absl::optional<CopiesLimit> LimitForCopies(const Graph& graph, const Plan& plan,
                                           const SearchOptions& options) {
  const bool limited = plan.space.memory > 0 || !options.memory_of;
  if (!plan.space.copies || limited || options.search != "default") return absl::nullopt;
  const Plan plain = WithoutSharing(graph, plan);
  if (plain.tensors == plan.tensors) return absl::nullopt;
  const CopiesLimit copies = {options.memory_of(graph, plan), options.memory_of(graph, plain) * 2};
  if (copies.needed <= copies.limit) return absl::nullopt;
  return copies;
}

absl::optional<Plan> KeepCopiesWithin(int64_t limit, const Graph& graph, Plan plan,
                                      const SearchOptions& options) {
  const Budget budget(options.time_limit, options.threads, options.asked);
  plan.space.memory = limit;
  const Plan plain = WithoutSharing(graph, plan);
  Problem problem = ProblemOfCopies(graph, plain, plan);
  problem.pairwise.memory.limit = limit;
  const LimitSolver solver(problem.pairwise, GridsOf(problem, plan.mesh), options.table_cells,
                           kForbidden, budget);
  std::vector<Assignment> near;
  int64_t target = limit;
  for (int round = 0; round < kTargets && !budget.ShouldStop(); ++round) {
    const absl::optional<Assignment> kept = solver.Solve(target, &near);
    if (!kept.has_value() || CostOf(problem.pairwise, *kept) >= plain.cost.bytes()) break;
    Plan found = PlanFor(problem, *kept, graph, plan);
    const int64_t excess = NeededBy(graph, found, options) - limit;
    if (excess <= 0) return found;
    target = std::min(target, PeakOf(problem.pairwise, *kept)) - (excess << round);
  }
  if (budget.ShouldStop() || NeededBy(graph, plain, options) > limit) return absl::nullopt;
  return plain;
}

int64_t BytesWithin(int64_t limit, const Graph& graph, const Plan& plan,
                    const SearchOptions& options) {
  if (limit == 0) return plan.value();
  const absl::optional<Plan> kept = KeepCopiesWithin(limit, graph, plan, options);
  return kept.has_value() ? kept->cost.bytes() : kForbidden;
}

int SharedCopies(const Graph& graph, const Plan& plan) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
        return IsCopy(graph, node) && plan.tensors[node.result] != plan.tensors[node.operands[0]];
      }));
}

}  // namespace yuba::search
