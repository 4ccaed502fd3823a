#include "search/rows/memory_search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include "search/rows/memory_dual.h"
#include "search/solve/parallel.h"

namespace yuba::search {
namespace {

// Of SearchWithin; plans depend on it (docs/decisions/072-two-local-searches.md).
constexpr uint64_t kSeed = 14;
// Its rounds for each variable, and at most; a second or so.
constexpr int kRoundsOfVariable = 8;
constexpr int kRounds = 600;
// Cells of a round's tables. Those of the first rounds, until they have taken so many sums, solve
// much of a small core at once.
constexpr int64_t kRegionCells = int64_t{1} << 12;
constexpr int64_t kWideCells = int64_t{1} << 18;
constexpr int64_t kWideSums = int64_t{1} << 25;

// Of TryRest: cells of its tables, values that are looked at, and assignments that are asked about,
// which may take a program each.
constexpr int64_t kTryCells = int64_t{1} << 20;
constexpr int kTries = 200'000;
constexpr int kMostAsked = 1000;

}  // namespace

MemorySearch::MemorySearch(const MemoryCore& core, uint64_t seed,
                           const MemorySearchOptions& options)
    : core_(core),
      options_(options),
      region_(core),
      random_(seed),
      state_(core),
      in_region_(core.size(), false) {
  SetPrices(std::vector<double>(core.room.size(), 0));
  Start(Assignment(core.size(), 0));
}

void MemorySearch::SetPrices(const std::vector<double>& prices) {
  prices_ = prices;
  double most = 0;
  for (double price : prices) most = std::max(most, price);
  penalty_ = std::max(penalty_, 4 * most);
  tried_prices_ = prices;
  region_.SetPrices(PricesOf(core_, tried_prices_));
  Recount();
}

void MemorySearch::Perturb() {
  double scale = 1;
  for (size_t row = 0; row < prices_.size(); ++row) {
    if (row == 0 || random_.Below(options_.rows_alike) == 0) {
      scale = std::exp(options_.spread * random_.Normal());
    }
    tried_prices_[row] = std::min(penalty_, prices_[row] * scale);
  }
  region_.SetPrices(PricesOf(core_, tried_prices_));
  Recount();
}

void MemorySearch::Start(const Assignment& assignment) {
  state_.Start(assignment);
  Recount();
}

// Fills slack_before_, which changes with the assignment and with the prices.
void MemorySearch::Recount() {
  std::vector<double> slack;
  for (size_t row = 0; row < core_.room.size(); ++row) {
    const double over = static_cast<double>(state_.loads()[row] - core_.room[row]);
    slack.push_back(penalty_ * std::max(0.0, over) - tried_prices_[row] * over);
  }
  slack_before_ = SumsBefore(slack);
}

// By how much an assignment of the region may cost more than the present one at the prices, and yet
// less by the rows and their penalties: the sum, over the rows that the region touches, of the
// penalty for the present excess, and of the price of the present room.
double MemorySearch::Slack(const std::vector<int>& variables) const {
  std::vector<std::pair<int, int>> intervals;
  for (int v : variables) {
    if (!core_.uses[v].empty())
      intervals.emplace_back(core_.uses[v][0].begin, core_.uses[v].back().end);
    for (int e : core_.edges_of[v]) {
      for (int b : core_.buffers_of[e]) {
        intervals.emplace_back(core_.buffers[b].begin, core_.buffers[b].end);
      }
    }
  }
  std::sort(intervals.begin(), intervals.end());
  double slack = 0;
  int done = 0;
  for (const auto& [begin, end] : intervals) {
    const int from = std::max(begin, done);
    if (end > from) slack += slack_before_[end] - slack_before_[from];
    done = std::max(done, end);
  }
  return slack;
}

void MemorySearch::Add(int variable, std::vector<int>& variables) {
  if (variable < 0 || in_region_[variable]) return;
  in_region_[variable] = true;
  variables.push_back(variable);
}

// Adds neighbours of variables of the region, at random.
void MemorySearch::Grow(std::vector<int>& variables, size_t count) {
  for (size_t tries = 0; variables.size() < count && tries < 8 * count; ++tries) {
    const int near = variables[random_.Below(variables.size())];
    const std::vector<int>& edges = core_.edges_of[near];
    if (edges.empty()) continue;
    const CoreEdge& edge = core_.edges[edges[random_.Below(edges.size())]];
    Add(edge.a == near ? edge.b : edge.a, variables);
  }
}

bool MemorySearch::IsUsed(int variable, int row) const {
  const auto holds = [row](const auto& use) { return use.begin <= row && row < use.end; };
  const std::vector<CoreUse>& uses = core_.uses[variable];
  if (std::any_of(uses.begin(), uses.end(), holds)) return true;
  for (const int e : core_.edges_of[variable]) {
    for (const int b : core_.buffers_of[e]) {
      if (holds(core_.buffers[b])) return true;
    }
  }
  return false;
}

std::vector<int> MemorySearch::Pick() {
  std::vector<int> variables;
  const int size = core_.size();
  const int count =
      std::min(size, options_.fewest + random_.Below(options_.most - options_.fewest + 1));
  const bool over = state_.overload() > 0 && random_.Below(2) == 0;
  if (!core_.room.empty() && (over || random_.Below(2) == 0)) {
    const double share = over ? 1 : options_.full;
    int row = Draw(core_.room.size(), options_.draws, [&](int drawn) {
      return static_cast<double>(state_.loads()[drawn]) >
             share * static_cast<double>(core_.room[drawn]);
    });
    if (row < 0) row = static_cast<int>(random_.Below(core_.room.size()));
    for (int left = 1 + random_.Below(options_.of_row); left > 0; --left) {
      Add(Draw(size, options_.draws, [&](int v) { return IsUsed(v, row); }), variables);
    }
  }
  if (cost() >= kForbidden && random_.Below(2) == 0) {
    const int pair = Draw(core_.edges.size(), options_.pair_draws, [&](int e) {
      const CoreEdge& edge = core_.edges[e];
      const int64_t row = assignment()[edge.a];
      return edge.at(row * core_.values(edge.b) + assignment()[edge.b]) >= kForbidden;
    });
    if (pair >= 0) {
      Add(core_.edges[pair].a, variables);
      Add(core_.edges[pair].b, variables);
    }
  }
  if (variables.empty()) Add(random_.Below(size), variables);
  Grow(variables, count);
  return variables;
}

void MemorySearch::Round(double left) {
  if (core_.size() == 0) return;
  if (++rounds_ % options_.rounds_of_prices == 0) {
    const bool is_late = rounds_ / options_.rounds_of_prices % options_.changes_of_penalty == 0;
    if (is_late && state_.overload() > 0) penalty_ *= 2;
    Perturb();
  }
  const std::vector<int> variables = Pick();
  region_.Prepare(variables, assignment(), options_.cells);
  const double before = state_.CostWith(penalty_);
  const double heat = Feasible() ? options_.heat * left * left : 0;
  const double allowed =
      heat > 0 ? heat * static_cast<double>(cost()) * -std::log(random_.Share()) : 0;
  const double margin = Slack(variables);
  double best = allowed;
  double limit = region_.current() + margin + best + 0.5;
  old_.clear();
  for (int v : variables) old_.push_back(assignment()[v]);
  taken_ = old_;
  bool found = false;
  int leaves = 0;
  region_.Enumerate(&limit, options_.steps, [&](const std::vector<int>& values) {
    if (values != old_) {
      state_.Move(variables, values);
      const double added = state_.CostWith(penalty_) - before;
      if (added < best || (!found && added <= best)) {
        best = added;
        found = true;
        taken_ = values;
        limit = std::min(limit, region_.current() + margin + best);
      }
    }
    return ++leaves < options_.tried;
  });
  state_.Move(variables, taken_);
  if (found) Recount();
  for (int v : variables) in_region_[v] = false;
}

namespace {

// The cheapest that one search meets; nothing where none is within the rows.
absl::optional<Solution> SearchFrom(const MemoryCore& core, const std::vector<double>& prices,
                                    const Assignment& start, int64_t bound, const Budget& budget) {
  MemorySearch search(core, kSeed);
  search.SetPrices(prices);
  search.Start(start);
  absl::optional<Solution> best;
  const int rounds = std::clamp(kRoundsOfVariable * core.size(), 1, kRounds);
  for (int round = 0; round <= rounds; ++round) {
    if (search.Feasible() && (!best.has_value() || search.cost() < best->cost)) {
      best = Solution{search.assignment(), search.cost()};
      if (best->cost <= bound) break;
    }
    if (budget.ShouldStop()) break;
    search.SetCells(search.sums() < kWideSums ? kWideCells : kRegionCells);
    search.Round(1 - 1.0 * round / rounds);
  }
  return best;
}

}  // namespace

std::vector<Solution> SearchWithin(const MemoryCore& core, const std::vector<MemoryPrice>& prices,
                                   const std::vector<Assignment>& starts, int64_t bound,
                                   const Budget& budget) {
  const std::vector<double> row_prices = core.PricesByRow(prices);
  std::vector<absl::optional<Solution>> best(starts.size());
  std::atomic<int64_t> first{static_cast<int64_t>(starts.size())};  // that reaches the bound
  ParallelFor(budget.threads(), first, [&](int64_t i) {
    if (i > first) return;
    best[i] = SearchFrom(core, row_prices, starts[i], bound, budget);
    if (!best[i].has_value() || best[i]->cost > bound) return;
    for (int64_t other = first; i < other && !first.compare_exchange_weak(other, i);) continue;
  });
  std::vector<Solution> found;
  for (absl::optional<Solution>& here : best) {
    if (!here.has_value()) continue;
    found.push_back(*std::move(here));
    if (found.back().cost <= bound) break;
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Solution& a, const Solution& b) { return a.cost < b.cost; });
  return found;
}

absl::optional<Solution> TryRest(const MemoryCore& core, const std::vector<MemoryPrice>& prices,
                                 const Assignment& start, int64_t least,
                                 const std::function<bool(const Assignment&)>& accept) {
  absl::optional<Solution> best;
  if (core.size() == 0 || core.size() > Region::kMostVariables) return best;
  std::vector<int> all(core.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<double> row_prices = core.PricesByRow(prices);
  Region region(core);
  region.SetPrices(PricesOf(core, row_prices));
  region.Prepare(all, start, kTryCells);
  double room = 0.5 - static_cast<double>(core.constant);
  for (size_t row = 0; row < row_prices.size(); ++row) room += row_prices[row] * core.room[row];
  double limit = static_cast<double>(least) + room;
  MemoryState state(core);
  int asked = 0;
  const auto take = [&](const std::vector<int>&) {
    if (state.cost() < least && state.Feasible() && ++asked && accept(state.assignment())) {
      least = state.cost();
      best = Solution{state.assignment(), least};
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
  return best;
}

}  // namespace yuba::search
