#include "search/memory_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "search/arithmetic.h"
#include "search/memory_core.h"
#include "search/memory_dual.h"
#include "search/memory_search.h"
#include "search/relax.h"
#include "search/solve.h"

namespace yuba {
namespace {

constexpr int kDualSteps = 600;
constexpr int kRounds = 2000;
constexpr int64_t kRegionCells = 1 << 16;  // of a round's tables
constexpr int64_t kTryCells = 1 << 20;
constexpr int kTries = 200000;  // steps
constexpr double kHeat = 2e-4;  // of the cost, at the beginning

// The price of a use of one byte during [begin, end).
int64_t PriceDuring(const std::vector<MemoryPrice>& prices, int64_t begin, int64_t end) {
  int64_t sum = 0;
  for (const MemoryPrice& price : prices) {
    if (begin <= price.time && price.time < end) sum = CheckedAdd(sum, price.price);
  }
  return sum;
}

Cells Scaled(const std::vector<int64_t>& cells, int64_t by) {
  std::vector<int64_t> scaled;
  for (int64_t cell : cells) scaled.push_back(CheckedMultiply(cell, by));
  return std::make_shared<const std::vector<int64_t>>(std::move(scaled));
}

// The rows of the relaxation: a class uses what its most frugal member does.
MemoryRows RelaxedRows(const MemoryRows& rows, const std::vector<ClassesPtr>& classes) {
  MemoryRows relaxed;
  relaxed.limit = rows.limit;
  std::map<std::pair<Cells, ClassesPtr>, Cells> known;
  for (const MemoryUse& use : rows.uses) {
    const ClassesPtr& here = classes[use.variable];
    Cells& cells = known[{use.usage, here}];
    if (cells == nullptr) {
      std::vector<int64_t> least(here->count, std::numeric_limits<int64_t>::max());
      for (size_t value = 0; value < here->of.size(); ++value) {
        int64_t& cell = least[here->of[value]];
        cell = std::min(cell, (*use.usage)[value]);
      }
      cells = std::make_shared<const std::vector<int64_t>>(std::move(least));
    }
    relaxed.uses.push_back({use.variable, use.begin, use.end, cells});
  }
  return relaxed;
}

// Prices that make the bound of the relaxation good, by time.
std::vector<MemoryPrice> PricesOf(const PairwiseProblem& relaxed) {
  std::vector<MemoryPrice> prices;
  const absl::optional<MemoryCore> core = MakeCore(relaxed);
  if (!core.has_value() || core->room.empty()) return prices;
  MemoryDual dual(*core);
  for (int step = 0; step < kDualSteps && !dual.stuck(); ++step) {
    dual.Step(1.05 * static_cast<double>(std::max<int64_t>(dual.bound(), 0)) + 1);
  }
  for (size_t row = 0; row < dual.prices().size(); ++row) {
    const double units = std::floor(dual.prices()[row] * kPriceUnits);
    if (units >= 1)
      prices.push_back({core->row_time[row], static_cast<int64_t>(std::min(units, 1e9))});
  }
  return prices;
}

// The bound of the prices, with the assignment and the order that show it.
absl::optional<ExactSolution> SolveAtPrices(const PairwiseProblem& problem,
                                            const std::vector<MemoryPrice>& prices,
                                            int64_t table_cells, int64_t* bound) {
  absl::optional<ExactSolution> exact = SolveExactly(AtPrices(problem, prices), table_cells);
  if (!exact.has_value()) return exact;
  int64_t units = exact->solution.cost;
  for (const MemoryPrice& price : prices) {
    units -= CheckedMultiply(price.price, problem.memory.limit);
  }
  *bound = units <= 0 ? 0 : (units + kPriceUnits - 1) / kPriceUnits;
  return exact;
}

std::vector<double> RowPrices(const MemoryCore& core, const std::vector<MemoryPrice>& prices) {
  std::vector<double> result(core.room.size(), 0);
  for (size_t row = 0; row < result.size(); ++row) {
    for (const MemoryPrice& price : prices) {
      if (price.time == core.row_time[row]) result[row] += 1.0 * price.price / kPriceUnits;
    }
  }
  return result;
}

int64_t CostOf(const MemoryCore& core, const Assignment& assignment) {
  int64_t cost = core.constant;
  for (int v = 0; v < core.size(); ++v) cost += core.costs[v][assignment[v]];
  for (const CoreEdge& edge : core.edges) {
    cost += edge.cells[assignment[edge.a] * core.values(edge.b) + assignment[edge.b]];
  }
  return cost;
}

bool Fits(const MemoryCore& core, const Assignment& assignment) {
  const std::vector<int64_t> loads = LoadsOf(core, assignment);
  for (size_t row = 0; row < loads.size(); ++row) {
    if (loads[row] > core.room[row]) return false;
  }
  return true;
}

// Of a small core: tries what could be cheaper than `best` at the prices, one after another.
void TryRest(const MemoryCore& core, const std::vector<double>& prices, Assignment& best) {
  if (core.size() == 0 || core.size() > Region::kMostVariables) return;
  std::vector<int> all(core.size());
  std::iota(all.begin(), all.end(), 0);
  Region region(core);
  region.Prepare(all, best, PricesOf(core, prices), kTryCells);
  int64_t least = CostOf(core, best);
  double room = 0.5 - static_cast<double>(core.constant);
  for (size_t row = 0; row < prices.size(); ++row) room += prices[row] * core.room[row];
  double limit = static_cast<double>(least) + room;
  Assignment tried(core.size());
  region.Enumerate(&limit, kTries, [&](const std::vector<int>& values) {
    for (size_t i = 0; i < values.size(); ++i) tried[region.variables()[i]] = values[i];
    const int64_t cost = CostOf(core, tried);
    if (cost < least && Fits(core, tried)) {
      least = cost;
      best = tried;
      limit = static_cast<double>(least) + room;
    }
    return true;
  });
}

// The best that regions, solved exactly one after another, make of the start.
absl::optional<Assignment> SearchWithin(const MemoryCore& core,
                                        const std::vector<MemoryPrice>& prices,
                                        const Assignment& start, int64_t bound) {
  const std::vector<double> row_prices = RowPrices(core, prices);
  MemorySearch search(core, 1, kRegionCells);
  search.SetPrices(row_prices);
  search.Start(core.Reduce(start));
  absl::optional<Assignment> best;
  int64_t least = kForbidden;
  for (int round = 0; round <= kRounds; ++round) {
    if (search.Feasible() && search.cost() < least) {
      least = search.cost();
      best = search.assignment();
      if (least <= bound) break;
    }
    const double left = 1 - 1.0 * round / kRounds;
    search.Round(search.Feasible() ? kHeat * left * left : 0);
  }
  if (best.has_value() && least > bound) TryRest(core, row_prices, *best);
  return best;
}

}  // namespace

PairwiseProblem AtPrices(const PairwiseProblem& problem, const std::vector<MemoryPrice>& prices) {
  PairwiseProblem priced;
  priced.variables = problem.variables;
  std::map<Cells, Cells> scaled;
  for (const Factor& factor : problem.factors) {
    Cells& cells = scaled[factor.cells];
    if (cells == nullptr) cells = Scaled(*factor.cells, kPriceUnits);
    priced.factors.push_back({factor.scope, cells});
  }
  std::map<std::pair<Cells, int64_t>, Cells> known;
  for (const MemoryUse& use : problem.memory.uses) {
    const int64_t price = PriceDuring(prices, use.begin, use.end);
    if (price == 0) continue;
    Cells& cells = known[{use.usage, price}];
    if (cells == nullptr) cells = Scaled(*use.usage, price);
    priced.factors.push_back({{use.variable}, cells});
  }
  return priced;
}

absl::optional<WithinLimit> SolveWithin(const PairwiseProblem& problem,
                                        const std::vector<ClassesPtr>& classes, int64_t target,
                                        int64_t table_cells) {
  PairwiseProblem tight = problem;
  tight.memory.limit = target;
  const absl::optional<MemoryCore> core = MakeCore(tight);
  if (!core.has_value() || core->least_peak > target) return absl::nullopt;

  WithinLimit found;
  PairwiseProblem relaxed = Relaxed(problem, classes);
  relaxed.memory = RelaxedRows(problem.memory, classes);
  found.prices = PricesOf(relaxed);
  Assignment start = LeastUsage(problem);
  if (auto exact = SolveAtPrices(problem, found.prices, table_cells, &found.bound)) {
    start = exact->solution.assignment;
    found.order = exact->order;
  }
  absl::optional<Assignment> best = SearchWithin(*core, found.prices, start, found.bound);
  if (!best.has_value()) {
    best = SearchWithin(*core, found.prices, LeastUsage(problem), found.bound);
  }
  if (!best.has_value()) return absl::nullopt;
  found.assignment = core->Expand(*best);
  found.cost = CostOf(problem, found.assignment);
  found.peak = PeakOf(problem, found.assignment);
  return found;
}

Assignment LeastUsage(const PairwiseProblem& problem) {
  Assignment assignment(problem.variables.size(), 0);
  std::vector<std::vector<int64_t>> sums(problem.variables.size());
  for (const MemoryUse& use : problem.memory.uses) {
    std::vector<int64_t>& sum = sums[use.variable];
    sum.resize(use.usage->size(), 0);
    for (size_t value = 0; value < sum.size(); ++value) sum[value] += (*use.usage)[value];
  }
  for (size_t v = 0; v < sums.size(); ++v) {
    if (sums[v].empty()) continue;
    assignment[v] =
        static_cast<int>(std::min_element(sums[v].begin(), sums[v].end()) - sums[v].begin());
  }
  return assignment;
}

}  // namespace yuba
