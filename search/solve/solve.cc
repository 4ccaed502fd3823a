#include "search/solve/solve.h"

#include <algorithm>
#include <utility>

#include "search/solve/interaction.h"
#include "search/solve/parallel.h"

namespace yuba::search {
namespace {

constexpr int64_t kLocalCells = int64_t{1} << 16;  // the largest table of local search

class Random {  // a fixed sequence
 public:
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
    return (z ^ (z >> 27)) % 1000;
  }

 private:
  uint64_t state_ = 1;
};

// The free variables of one round, in the order of their elimination. Whenever no table fits, a
// variable with many neighbours keeps its value, preferably one that was free in the rounds before.
// Takes from *work the sums of the elimination. Fewer variables where the budget is spent.
std::vector<int> FreeVariables(const PairwiseProblem& problem, int64_t cells, Random* random,
                               std::vector<int>* times_fixed, int64_t* work, const Budget& budget) {
  Interaction interaction(problem);
  std::vector<int> order;
  while (interaction.remaining() > 0 && !budget.ShouldStop()) {
    int64_t table = 0;
    int next = interaction.Cheapest(&table);
    if (table <= cells) {
      interaction.Eliminate(next);
      order.push_back(next);
      *work -= table * problem.variables[next]->size;
      continue;
    }
    int victim = -1;
    uint64_t best = 0;
    for (size_t v = 0; v < problem.variables.size(); ++v) {
      if (!interaction.Has(static_cast<int>(v))) continue;
      uint64_t score = interaction.neighbours(static_cast<int>(v)).size() *
                       (1000 + random->Next()) / (1 + (*times_fixed)[v]);
      if (victim < 0 || score > best) {
        victim = static_cast<int>(v);
        best = score;
      }
    }
    ++(*times_fixed)[victim];
    interaction.Remove(victim);
  }
  return order;
}

}  // namespace

absl::optional<ExactSolution> SolveExactly(const PairwiseProblem& problem, int64_t table_cells,
                                           const Budget& budget) {
  absl::optional<Order> order = GreedyOrder(problem, table_cells, budget);
  if (!order.has_value()) return absl::nullopt;
  absl::optional<Solution> solution = Eliminate(problem, order->variables, budget);
  if (!solution.has_value()) return absl::nullopt;
  return ExactSolution{*std::move(solution), std::move(order->variables), order->sums};
}

Solution Improve(const PairwiseProblem& problem, const Solution& start,
                 const ImproveOptions& options, const Budget& budget) {
  Solution best = start;
  Random random;
  std::vector<int> times_fixed(problem.variables.size(), 0);
  int idle = 0;
  int64_t work = options.work;
  for (int round = 0; round < options.rounds && idle < options.patience && work > 0; ++round) {
    std::vector<int> order =
        FreeVariables(problem, options.cells, &random, &times_fixed, &work, budget);
    absl::optional<Solution> next = Eliminate(problem, order, best.assignment, budget);
    if (!next.has_value()) break;
    idle = next->cost < best.cost ? 0 : idle + 1;
    if (next->cost <= best.cost) best = *std::move(next);
  }
  return best;
}

Solution SolveLocally(const PairwiseProblem& problem, const std::vector<Assignment>& starts,
                      int64_t table_cells, const Budget& budget) {
  int64_t largest_domain = 1;
  for (const DomainPtr& domain : problem.variables) {
    largest_domain = std::max<int64_t>(largest_domain, domain->size);
  }
  ImproveOptions trees;
  trees.cells = std::min(table_cells, largest_domain);
  trees.work = int64_t{1} << 30;
  std::vector<Solution> improved(starts.size());
  ParallelFor(budget.threads(), static_cast<int64_t>(starts.size()), [&](int64_t i) {
    improved[i] = Improve(problem, {starts[i], CostOf(problem, starts[i])}, trees, budget);
  });
  // The first of the cheapest.
  Solution best =
      *std::min_element(improved.begin(), improved.end(),
                        [](const Solution& a, const Solution& b) { return a.cost < b.cost; });
  ImproveOptions wider;
  wider.cells = std::min({table_cells, largest_domain * largest_domain, kLocalCells});
  wider.rounds = 24;
  wider.patience = 6;
  wider.work = int64_t{1} << 32;
  return Improve(problem, best, wider, budget);
}

}  // namespace yuba::search
