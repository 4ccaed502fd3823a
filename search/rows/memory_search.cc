#include "search/rows/memory_search.h"

#include <algorithm>
#include <cmath>

#include "search/rows/memory_dual.h"

namespace yuba::search {
namespace {

constexpr int64_t kRoundsBetweenPrices = 500;

}  // namespace

MemorySearch::MemorySearch(const MemoryCore& core, uint64_t seed)
    : core_(core), region_(core), random_(seed), state_(core), in_region_(core.size(), false) {
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

// Other prices find other assignments: runs of neighbouring rows have their prices scaled at
// random.
void MemorySearch::Perturb() {
  std::normal_distribution<double> normal(0, 0.3);
  double scale = std::exp(normal(random_));
  for (size_t row = 0; row < prices_.size(); ++row) {
    if (random_() % 64 == 0) scale = std::exp(normal(random_));
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

void MemorySearch::Grow(std::vector<int>& variables, size_t count) {
  for (size_t i = 0, tries = 0; variables.size() < count && tries < 8 * count; ++tries) {
    i = random_() % variables.size();
    const std::vector<int>& edges = core_.edges_of[variables[i]];
    if (edges.empty()) continue;
    const CoreEdge& edge = core_.edges[edges[random_() % edges.size()]];
    const int other = edge.a == variables[i] ? edge.b : edge.a;
    if (in_region_[other]) continue;
    in_region_[other] = true;
    variables.push_back(other);
  }
}

// A random variable with usage in that row; -1 where 200 tries find none.
int MemorySearch::CoveringRow(int row) {
  for (int tries = 0; tries < 200; ++tries) {
    const int v = static_cast<int>(random_() % core_.size());
    for (const CoreUse& use : core_.uses[v]) {
      if (use.begin <= row && row < use.end) return v;
      if (use.begin > row) break;
    }
    for (int e : core_.edges_of[v]) {
      for (int b : core_.buffers_of[e]) {
        if (core_.buffers[b].begin <= row && row < core_.buffers[b].end) return v;
      }
    }
  }
  return -1;
}

std::vector<int> MemorySearch::Pick() {
  std::vector<int> variables;
  auto add = [&](int v) {
    if (v < 0 || in_region_[v]) return;
    in_region_[v] = true;
    variables.push_back(v);
  };
  const size_t count =
      std::min<size_t>({4 + random_() % 37, static_cast<size_t>(core_.size()), 60});
  const bool over = state_.overload() > 0 && random_() % 2 == 0;
  if (!core_.room.empty() && (over || random_() % 2 == 0)) {
    int row = static_cast<int>(random_() % core_.room.size());
    for (int tries = 0; tries < 300; ++tries) {
      const bool full = over ? state_.loads()[row] > core_.room[row]
                             : state_.loads()[row] > core_.room[row] - core_.room[row] / 8;
      if (full) break;
      row = static_cast<int>(random_() % core_.room.size());
    }
    const size_t seeds = 1 + random_() % 6;
    for (size_t i = 0; i < seeds; ++i) add(CoveringRow(row));
  }
  if (cost() >= kForbidden && random_() % 2 == 0) {
    for (int tries = 0; tries < 20000; ++tries) {
      const CoreEdge& edge = core_.edges[random_() % core_.edges.size()];
      const int64_t cell =
          edge.at(assignment()[edge.a] * core_.values(edge.b) + assignment()[edge.b]);
      if (cell < kForbidden) continue;
      add(edge.a);
      add(edge.b);
      break;
    }
  }
  if (variables.empty()) add(static_cast<int>(random_() % core_.size()));
  Grow(variables, count);
  return variables;
}

void MemorySearch::Round(double heat, int64_t region_cells) {
  if (core_.size() == 0) return;
  if (++rounds_ % kRoundsBetweenPrices == 0) {
    if (state_.overload() > 0 && rounds_ % (8 * kRoundsBetweenPrices) == 0) penalty_ *= 2;
    Perturb();
  }
  const std::vector<int> variables = Pick();
  region_.Prepare(variables, assignment(), region_cells);
  const double before = state_.CostWith(penalty_);
  const double allowed =
      heat > 0 ? heat * static_cast<double>(cost()) * -std::log((random_() >> 11) * 0x1p-53 + 1e-12)
               : 0;
  const double margin = Slack(variables);
  double best = allowed;
  double limit = region_.current() + margin + best + 0.5;
  old_.clear();
  for (int v : variables) old_.push_back(assignment()[v]);
  taken_ = old_;
  bool found = false;
  int leaves = 0;
  region_.Enumerate(&limit, 2000, [&](const std::vector<int>& values) {
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
    return ++leaves < 60;
  });
  state_.Move(variables, taken_);
  if (found) Recount();
  for (int v : variables) in_region_[v] = false;
}

}  // namespace yuba::search
