#include "search/rows/memory_rounds.h"

#include <algorithm>
#include <numeric>

#include "search/rows/memory_dual.h"
#include "search/rows/memory_search.h"
#include "search/rows/memory_state.h"

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

}  // namespace

std::vector<double> RowPrices(const MemoryCore& core, const std::vector<MemoryPrice>& prices) {
  return core.times.PricesByRow(prices, 1, core.scale.units);
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
  MemoryState state(core);
  int asked = 0;
  const auto take = [&](const std::vector<int>&) {
    if (state.cost() < least && state.Feasible() && ++asked && accept(state.assignment())) {
      least = state.cost();
      best = state.assignment();
      limit = static_cast<double>(least) + room;
    }
    return asked < kMostAsked;
  };
  const auto enter = [&](int v, int value) {
    state.Move(v, value);
    return state.overload() == 0;
  };
  const auto leave = [&](int v, int) { state.Move(v, MemoryState::kAbsent); };
  region.Enumerate(&limit, kTries, take, enter, leave);
}

}  // namespace yuba::search
