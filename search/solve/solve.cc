#include "search/solve/solve.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "search/solve/interaction.h"
#include "search/solve/parallel.h"
#include "search/solve/random.h"

namespace yuba::search {
namespace {

// Of the variables that keep their values. Plans depend on it by a percent or so, either way
// (docs/decisions/072-two-local-searches.md).
constexpr uint64_t kSeed = 14;

// Which variable keeps its value in a round where no table fits: one with many neighbours, by a
// random weight, preferably one that was free in the rounds before.
class Victims {
 public:
  Victims(const Interaction& interaction, Random* random, std::vector<int>* times_fixed)
      : interaction_(interaction), times_fixed_(*times_fixed) {
    std::vector<Entry> entries;
    for (size_t v = 0; v < times_fixed->size(); ++v) {
      weights_.push_back(1000 + random->Below(1000));
      entries.push_back(EntryOf(static_cast<int>(v)));
    }
    best_ = std::priority_queue<Entry>(std::less<Entry>(), std::move(entries));
  }

  // The neighbours of the variable may have become more.
  void Raise(int variable) { best_.push(EntryOf(variable)); }

  // At least one variable must remain.
  int Take() {
    while (true) {
      const Entry top = best_.top();
      best_.pop();
      const int v = -top.second;
      if (!interaction_.Has(v)) continue;
      if (const Entry now = EntryOf(v); now < top) {
        best_.push(now);  // it has lost neighbours
        continue;
      }
      ++times_fixed_[v];
      return v;
    }
  }

 private:
  using Entry = std::pair<size_t, int>;  // score, and less the variable: of equals the first

  Entry EntryOf(int v) const {
    return {interaction_.neighbours(v).size() * weights_[v] / (1 + times_fixed_[v]), -v};
  }

  const Interaction& interaction_;
  std::vector<int>& times_fixed_;
  std::vector<size_t> weights_;
  // At least one entry of each variable that remains has its present score or more.
  std::priority_queue<Entry> best_;
};

// The free variables of one round, in the order of their elimination. Whenever no table fits, a
// victim keeps its value. Takes from *work the sums of the elimination. Fewer variables where the
// budget is spent.
std::vector<int> FreeVariables(const PairwiseProblem& problem, int64_t cells, Random* random,
                               std::vector<int>* times_fixed, int64_t* work, const Budget& budget) {
  Interaction interaction(problem);
  Victims victims(interaction, random, times_fixed);
  std::vector<int> order;
  while (interaction.remaining() > 0 && !budget.ShouldStop()) {
    int64_t table = 0;
    const int next = interaction.Cheapest(&table);
    if (table > cells) {
      interaction.Remove(victims.Take());
      continue;
    }
    const std::vector<int> neighbours = interaction.neighbours(next);
    interaction.Eliminate(next);
    for (const int other : neighbours) victims.Raise(other);
    order.push_back(next);
    *work -= table * problem.variables[next]->size;
  }
  return order;
}

Solution Improve(const PairwiseProblem& problem, const Assignment& start,
                 const LocalOptions& options, const Budget& budget) {
  int64_t cells = options.cells;
  for (const DomainPtr& domain : problem.variables) cells = std::max<int64_t>(cells, domain->size);
  Solution best = {start, CostOf(problem, start)};
  Random random(kSeed);
  std::vector<int> times_fixed(problem.variables.size(), 0);
  int idle = 0;
  int64_t work = options.work;
  for (int round = 0; round < options.rounds && idle < options.patience && work > 0; ++round) {
    const std::vector<int> order =
        FreeVariables(problem, cells, &random, &times_fixed, &work, budget);
    absl::optional<Solution> next = Eliminate(problem, order, best.assignment, budget);
    if (!next.has_value()) break;
    idle = next->cost < best.cost ? 0 : idle + 1;
    if (next->cost <= best.cost) best = *std::move(next);
  }
  return best;
}

}  // namespace

absl::optional<ExactSolution> SolveExactly(const PairwiseProblem& problem, int64_t table_cells,
                                           const Budget& budget) {
  absl::optional<Order> order = GreedyOrder(problem, table_cells, budget);
  if (!order.has_value()) return absl::nullopt;
  absl::optional<Solution> solution = Eliminate(problem, order->variables, budget);
  if (!solution.has_value()) return absl::nullopt;
  return ExactSolution{*std::move(solution), std::move(order->variables)};
}

Solution SolveLocally(const PairwiseProblem& problem, const std::vector<Assignment>& starts,
                      const LocalOptions& options, const Budget& budget) {
  std::vector<Solution> improved(starts.size());
  ParallelFor(budget.threads(), static_cast<int64_t>(starts.size()),
              [&](int64_t i) { improved[i] = Improve(problem, starts[i], options, budget); });
  // The first of the cheapest.
  return *std::min_element(improved.begin(), improved.end(),
                           [](const Solution& a, const Solution& b) { return a.cost < b.cost; });
}

}  // namespace yuba::search
