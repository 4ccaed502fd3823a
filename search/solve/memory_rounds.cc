#include "search/solve/memory_rounds.h"

#include <algorithm>
#include <numeric>

#include "search/solve/memory_dual.h"
#include "search/solve/memory_search.h"
#include "search/solve/memory_state.h"

namespace yuba::search {
namespace {

constexpr int kRounds = 600;               // at most
constexpr int kRoundsOfVariable = 8;       // rounds for each variable
constexpr int64_t kRegionCells = 1 << 12;  // of a round's tables
constexpr int64_t kWideCells = 1 << 18;    // of the tables of the first rounds, ...
constexpr int64_t kWideSums = 1 << 25;     // ... until they have taken so many sums
constexpr double kHeat = 2e-4;             // of the cost, at the beginning
constexpr int64_t kTryCells = 1 << 20;     // of the tables of TryRest
constexpr int kTries = 200000;             // steps of TryRest
constexpr int kMostAsked = 1000;           // assignments that `accept` is asked about

// Loads by row while only some variables have values; the others use nothing.
class PartialLoads {
 public:
  explicit PartialLoads(const MemoryCore& core)
      : core_(core), values_(core.size(), -1), loads_(core.room.size(), 0) {}

  // Gives the variable a value; whether the rows it uses are still within the limit.
  bool Add(int variable, int value) {
    const bool fits = Change(variable, value, 1);
    values_[variable] = value;
    return fits;
  }
  void Remove(int variable, int value) {
    values_[variable] = -1;
    Change(variable, value, -1);
  }

 private:
  bool Change(int variable, int value, int sign) {
    bool fits = true;
    const auto load = [&](int begin, int end, int64_t by) {
      for (int row = begin; by != 0 && row < end; ++row) {
        loads_[row] += sign * by;
        if (loads_[row] > core_.room[row]) fits = false;
      }
    };
    for (const CoreUse& use : core_.uses[variable]) load(use.begin, use.end, use.usage[value]);
    for (const int e : core_.edges_of[variable]) {
      const CoreEdge& edge = core_.edges[e];
      const int other = values_[edge.a == variable ? edge.b : edge.a];
      if (other < 0) continue;
      const int64_t row = edge.a == variable ? value : other;
      const int64_t cell = row * core_.values(edge.b) + (edge.a == variable ? other : value);
      for (const int b : core_.buffers_of[e]) {
        load(core_.buffers[b].begin, core_.buffers[b].end, (*core_.buffers[b].usage)[cell]);
      }
    }
    return fits;
  }

  const MemoryCore& core_;
  std::vector<int> values_;  // by variable: its value, or -1
  std::vector<int64_t> loads_;
};

}  // namespace

std::vector<double> RowPrices(const MemoryCore& core, const std::vector<MemoryPrice>& prices) {
  std::vector<double> result(core.room.size(), 0);
  for (const MemoryPrice& price : prices) {
    const auto after = std::upper_bound(core.row_time.begin(), core.row_time.end(), price.time);
    if (after == core.row_time.begin()) continue;
    result[after - core.row_time.begin() - 1] += 1.0 * price.price / core.scale.units;
  }
  return result;
}

int64_t CostOf(const MemoryCore& core, const Assignment& assignment) {
  MemoryState state(core);
  state.Start(assignment);
  return state.cost();
}

absl::optional<Assignment> SearchWithin(const MemoryCore& core,
                                        const std::vector<MemoryPrice>& prices,
                                        const Assignment& start, int64_t bound,
                                        const Budget& budget) {
  const std::vector<double> row_prices = RowPrices(core, prices);
  MemorySearch search(core, 1);
  search.SetPrices(row_prices);
  search.Start(start);
  absl::optional<Assignment> best;
  int64_t least = kForbidden;
  const int rounds = std::clamp(kRoundsOfVariable * core.size(), 1, kRounds);
  for (int round = 0; round <= rounds; ++round) {
    if (search.Feasible() && search.cost() < least) {
      least = search.cost();
      best = search.assignment();
      if (least <= bound) break;
    }
    if (budget.ShouldStop()) break;
    const double left = 1 - 1.0 * round / rounds;
    const int64_t cells = search.sums() < kWideSums ? kWideCells : kRegionCells;
    search.Round(search.Feasible() ? kHeat * left * left : 0, cells);
  }
  return best;
}

void TryRest(const MemoryCore& core, const std::vector<double>& prices, int64_t least,
             Assignment& best, const std::function<bool(const Assignment&)>& accept) {
  if (core.size() == 0 || core.size() > Region::kMostVariables) return;
  std::vector<int> all(core.size());
  std::iota(all.begin(), all.end(), 0);
  Region region(core);
  region.SetPrices(PricesOf(core, prices));
  region.Prepare(all, best, kTryCells);
  double room = 0.5 - static_cast<double>(core.constant);
  for (size_t row = 0; row < prices.size(); ++row) room += prices[row] * core.room[row];
  double limit = static_cast<double>(least) + room;
  MemoryState tried(core);
  PartialLoads loads(core);
  int asked = 0;
  const auto take = [&](const std::vector<int>& values) {
    tried.Move(all, values);
    if (tried.cost() < least && tried.Feasible() && ++asked && accept(tried.assignment())) {
      least = tried.cost();
      best = tried.assignment();
      limit = static_cast<double>(least) + room;
    }
    return asked < kMostAsked;
  };
  region.Enumerate(
      &limit, kTries, take, [&](int v, int value) { return loads.Add(v, value); },
      [&](int v, int value) { loads.Remove(v, value); });
}

}  // namespace yuba::search
