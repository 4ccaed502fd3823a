#include "search/solve/solve.h"

#include <algorithm>
#include <functional>
#include <queue>
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

// Which variable keeps its value in a round where no table fits: one with many neighbours, by a
// random weight, preferably one that was free in the rounds before.
class Victims {
 public:
  Victims(const Interaction& interaction, Random* random, std::vector<int>* times_fixed)
      : interaction_(interaction), times_fixed_(*times_fixed) {
    std::vector<Entry> entries;
    for (size_t v = 0; v < times_fixed->size(); ++v) {
      weights_.push_back(1000 + random->Next());
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
  using Entry = std::pair<uint64_t, int>;  // score, and less the variable: of equals the first

  Entry EntryOf(int v) const {
    return {interaction_.neighbours(v).size() * weights_[v] / (1 + times_fixed_[v]), -v};
  }

  const Interaction& interaction_;
  std::vector<int>& times_fixed_;
  std::vector<uint64_t> weights_;
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
