#include "search/solve/memory_dual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "opsemantics/base/inner_loop.h"

namespace yuba::search {
namespace {

constexpr int kFirstSweeps = 30;  // with the prices of Start
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double AsDouble(int64_t cost) { return cost >= kForbidden ? kInfinity : static_cast<double>(cost); }

YUBA_INNER_LOOP void LowerTo(double* least, const double* row, double more, int size) {
  for (int i = 0; i < size; ++i) least[i] = std::min(least[i], row[i] + more);
}

}  // namespace

std::vector<int64_t> LoadsOf(const MemoryCore& core, const Assignment& assignment) {
  std::vector<int64_t> loads(core.room.size(), 0);
  for (int v = 0; v < core.size(); ++v) {
    for (const CoreUse& use : core.uses[v]) {
      const int64_t by = use.usage[assignment[v]];
      if (by == 0) continue;
      for (int row = use.begin; row < use.end; ++row) loads[row] += by;
    }
  }
  for (const CoreBuffer& buffer : core.buffers) {
    const CoreEdge& edge = core.edges[buffer.edge];
    const int64_t by =
        (*buffer.usage)[int64_t{assignment[edge.a]} * core.values(edge.b) + assignment[edge.b]];
    for (int row = buffer.begin; row < buffer.end; ++row) loads[row] += by;
  }
  return loads;
}

CorePrices PricesOf(const MemoryCore& core, const std::vector<double>& prices) {
  std::vector<double> sum(prices.size() + 1, 0);  // by row: the prices of the rows before it
  for (size_t row = 0; row < prices.size(); ++row) sum[row + 1] = sum[row] + prices[row];
  CorePrices result;
  result.values.resize(core.size());
  result.cells.resize(core.edges.size());
  const auto add = [](double price, const std::vector<int64_t>& usage, std::vector<double>* to) {
    for (size_t x = 0; x < usage.size(); ++x) (*to)[x] += price * static_cast<double>(usage[x]);
  };
  for (int v = 0; v < core.size(); ++v) {
    result.values[v].assign(core.values(v), 0);
    for (const CoreUse& use : core.uses[v]) {
      const double price = sum[use.end] - sum[use.begin];
      if (price > 0) add(price, use.usage, &result.values[v]);
    }
  }
  for (const CoreBuffer& buffer : core.buffers) {
    const double price = sum[buffer.end] - sum[buffer.begin];
    if (price <= 0) continue;
    result.cells[buffer.edge].resize(buffer.usage->size(), 0);
    add(price, *buffer.usage, &result.cells[buffer.edge]);
  }
  return result;
}

MemoryDual::MemoryDual(const MemoryCore& core, int patience) : core_(core), patience_(patience) {
  std::map<std::pair<Cells, int>, std::shared_ptr<const Tables>> known;
  for (const CoreEdge& edge : core.edges) {
    const int rows = core.values(edge.a), columns = core.values(edge.b);
    std::shared_ptr<const Tables>& tables = known[{edge.cells, rows}];
    if (tables == nullptr) tables = std::make_shared<const Tables>(TablesOf(edge, {}));
    plain_.push_back(tables);
    message_[0].emplace_back(rows, 0.0);
    message_[1].emplace_back(columns, 0.0);
  }
  for (int v = 0; v < core.size(); ++v) {
    int before = 0, after = 0;
    for (int e : core.edges_of[v]) ++(core.edges[e].a == v ? after : before);
    share_.push_back(1.0 / std::max({1, before, after}));
  }
  prices_.assign(core.room.size(), 0);
  best_prices_ = direction_ = prices_;
  decoded_.assign(core.size(), 0);
  PriceCosts();
  best_ = -kInfinity;
}

void MemoryDual::Start(const std::vector<double>& prices) {
  prices_ = best_prices_ = prices;
  PriceCosts();
  for (int sweep = 0; sweep < kFirstSweeps; ++sweep) best_ = std::max(best_, Sweep());
}

MemoryDual::Tables MemoryDual::TablesOf(const CoreEdge& edge,
                                        const std::vector<double>& prices) const {
  const int rows = core_.values(edge.a), columns = core_.values(edge.b);
  Tables result_tables;
  for (std::vector<double>& cells : result_tables.first) cells.resize(edge.cells->size());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const int64_t at = int64_t{i} * columns + j;
      const double cell = AsDouble(edge.at(at)) + (prices.empty() ? 0 : prices[at]);
      result_tables.first[0][at] = result_tables.first[1][int64_t{j} * rows + i] = cell;
    }
  }
  for (int side : {0, 1}) {
    const int size = side == 0 ? columns : rows;
    for (auto row = result_tables.first[side].begin(); row != result_tables.first[side].end();
         row += size) {
      const auto [least, most] = std::minmax_element(row, row + size);
      result_tables.least[side].push_back(*least);
      result_tables.most[side].push_back(*most);
    }
  }
  return result_tables;
}

void MemoryDual::PriceCosts() {
  CorePrices priced = PricesOf(core_, prices_);
  tables_ = plain_;
  for (size_t e = 0; e < tables_.size(); ++e) {
    if (priced.cells[e].empty()) continue;
    tables_[e] = std::make_shared<const Tables>(TablesOf(core_.edges[e], priced.cells[e]));
  }
  costs_ = std::move(priced.values);
  for (int v = 0; v < core_.size(); ++v) {
    for (int x = 0; x < core_.values(v); ++x)
      costs_[v][x] += static_cast<double>(core_.costs[v][x]);
  }
}

void MemoryDual::Belief(int v) {
  belief_ = costs_[v];
  for (int e : core_.edges_of[v]) {
    const std::vector<double>& message = message_[core_.edges[e].a == v ? 0 : 1][e];
    for (size_t x = 0; x < belief_.size(); ++x) belief_[x] += message[x];
  }
}

// Sends the belief of `from` along an edge. The least of the message is taken off and returned.
double MemoryDual::Send(int e, int from) {
  const CoreEdge& edge = core_.edges[e];
  const int side = edge.a == from ? 0 : 1;
  const Tables& tables = *tables_[e];
  const std::vector<double>& back = message_[side][e];
  std::vector<double>& message = message_[1 - side][e];
  const int size = static_cast<int>(message.size());
  std::fill(message.begin(), message.end(), kInfinity);
  // A value whose least sum is above another's greatest sum is the best for no value opposite.
  given_.resize(back.size());
  double enough = kInfinity;
  for (size_t x = 0; x < back.size(); ++x) {
    given_[x] = share_[from] * belief_[x] - back[x];
    enough = std::min(enough, given_[x] + tables.most[side][x]);
  }
  for (size_t x = 0; x < back.size(); ++x) {
    if (given_[x] + tables.least[side][x] > enough) continue;
    LowerTo(message.data(), &tables.first[side][x * size], given_[x], size);
  }
  const double least = *std::min_element(message.begin(), message.end());
  for (double& value : message) value -= least;
  return least;
}

void MemoryDual::Forward(int v) {
  Belief(v);
  for (int e : core_.edges_of[v]) {
    if (core_.edges[e].a == v) Send(e, v);
  }
}

double MemoryDual::Backward(int v) {
  Belief(v);
  double bound = 0;
  int before = 0;
  for (int e : core_.edges_of[v]) {
    if (core_.edges[e].b != v) continue;
    bound += Send(e, v);
    ++before;
  }
  const double rest = 1 - before * share_[v];
  if (rest > 1e-12) bound += rest * *std::min_element(belief_.begin(), belief_.end());
  return bound;
}

// Two passes of messages; returns the bound for the present prices.
double MemoryDual::Sweep() {
  for (int v = 0; v < core_.size(); ++v) Forward(v);
  double bound = static_cast<double>(core_.constant);
  for (int v = core_.size(); v-- > 0;) bound += Backward(v);
  for (size_t row = 0; row < prices_.size(); ++row) {
    bound -= prices_[row] * static_cast<double>(core_.room[row]);
  }
  return bound;
}

void MemoryDual::Decode() {
  for (int v = 0; v < core_.size(); ++v) {
    std::vector<double> cost = costs_[v];
    for (int e : core_.edges_of[v]) {
      const CoreEdge& edge = core_.edges[e];
      const size_t size = cost.size();
      if (edge.a == v) {
        for (size_t x = 0; x < size; ++x) cost[x] += message_[0][e][x];
      } else {
        const double* row = &tables_[e]->first[0][decoded_[edge.a] * size];
        for (size_t x = 0; x < size; ++x) cost[x] += std::min(row[x], 1e18);
      }
    }
    decoded_[v] = static_cast<int>(std::min_element(cost.begin(), cost.end()) - cost.begin());
  }
}

void MemoryDual::Step(double target) {
  const double bound = Sweep();
  Decode();
  const double enough = 1e-6 * std::abs(best_);
  if (bound > best_) {
    idle_ = bound > best_ + enough || best_ == -kInfinity ? 0 : idle_ + 1;
    best_ = bound;
    best_prices_ = prices_;
  } else {
    ++idle_;
  }
  if (idle_ >= patience_) {
    step_ *= 0.7;
    idle_ = 0;
    prices_ = best_prices_;
    PriceCosts();
    if (step_ < 1e-4) stuck_ = true;
  }
  if (prices_.empty()) return;
  const std::vector<int64_t> loads = LoadsOf(core_, decoded_);
  double square = 0;
  for (size_t row = 0; row < loads.size(); ++row) {
    const double by = static_cast<double>(loads[row] - core_.room[row]);
    direction_[row] = 0.8 * direction_[row] + 0.2 * by;
    if (direction_[row] > 0 || prices_[row] > 0) square += direction_[row] * direction_[row];
  }
  if (square == 0) return;
  const double length = step_ * std::max(target - bound, 1e-3 * std::abs(target)) / square;
  for (size_t row = 0; row < loads.size(); ++row) {
    prices_[row] = std::max(0.0, prices_[row] + length * direction_[row]);
  }
  PriceCosts();
}

int64_t MemoryDual::bound() const {
  // Costs are integers, so rounding up is safe once more is taken off than sums may be rounded by.
  double sizes = std::abs(best_);
  for (size_t row = 0; row < best_prices_.size(); ++row) {
    sizes += best_prices_[row] * std::abs(static_cast<double>(core_.room[row]));
  }
  const double safe = best_ - 1e-3 - 1e-11 * sizes;
  if (!(safe > 0)) return 0;
  return static_cast<int64_t>(std::ceil(std::min(safe, 9e17)));
}

}  // namespace yuba::search
