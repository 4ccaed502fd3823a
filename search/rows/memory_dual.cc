#include "search/rows/memory_dual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace yuba::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double AsDouble(int64_t cost) { return cost >= kForbidden ? kInfinity : static_cast<double>(cost); }

std::vector<std::vector<double>> UnaryOf(const MemoryCore& core) {
  std::vector<std::vector<double>> unary;
  for (const std::vector<int64_t>& costs : core.costs)
    unary.emplace_back(costs.begin(), costs.end());
  return unary;
}

std::vector<int> InOrder(const MemoryCore& core) {
  std::vector<int> order(core.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Breadth first from `start`, then from what it does not reach.
std::vector<int> BreadthFirst(const MemoryCore& core, int start) {
  std::vector<int> order;
  std::vector<bool> seen(core.size(), false);
  const auto add = [&](int v) {
    if (!seen[v]) order.push_back(v);
    seen[v] = true;
  };
  add(start);
  size_t done = 0;
  for (int v = 0; v < core.size(); ++v) {
    for (; done < order.size(); ++done) {
      for (const int e : core.edges_of[order[done]]) {
        add(core.edges[e].a);
        add(core.edges[e].b);
      }
    }
    add(v);
  }
  return order;
}

}  // namespace

CorePrices PricesOf(const MemoryCore& core, const std::vector<double>& prices) {
  const std::vector<double> sum = SumsBefore(prices);
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

MemoryDual::MemoryDual(const MemoryCore& core, const MemoryDualOptions& options)
    : core_(core),
      options_(options),
      plain_(PlainEdges()),
      passing_(UnaryOf(core), plain_, InOrder(core), static_cast<double>(core.constant)),
      priced_(core.edges.size(), false),
      prices_(core.room.size(), 0),
      best_prices_(prices_),
      direction_(prices_),
      decoded_(core),
      best_(-kInfinity),
      step_(options.longest) {
  PriceCosts();
}

void MemoryDual::Start(const std::vector<double>& prices) {
  prices_ = best_prices_ = prices;
  PriceCosts();
  for (int sweep = 0; sweep < options_.first_sweeps; ++sweep) best_ = std::max(best_, Sweep());
}

void MemoryDual::Restart(int from) {
  if (core_.size() > 0) passing_ = Passing(UnaryOf(core_), plain_, BreadthFirst(core_, from));
  priced_.assign(priced_.size(), false);
  std::fill(direction_.begin(), direction_.end(), 0);
  step_ = options_.longest;
  idle_ = 0;
  stuck_ = false;
  Start(best_prices_);
}

std::vector<MemoryDual::Passing::Edge> MemoryDual::PlainEdges() const {
  std::map<std::pair<Cells, int>, Passing::Table> known;  // by cells and number of rows
  std::vector<Passing::Edge> edges;
  for (const CoreEdge& edge : core_.edges) {
    Passing::Table& table = known[{edge.cells, core_.values(edge.a)}];
    if (table == nullptr) table = TableOf(edge, {});
    edges.push_back({{edge.a, edge.b}, table});
  }
  return edges;
}

// The costs of the edge, with prices by cell, if there are any.
MemoryDual::Passing::Table MemoryDual::TableOf(const CoreEdge& edge,
                                               const std::vector<double>& prices) const {
  std::vector<double> costs(edge.cells->size());
  for (size_t cell = 0; cell < costs.size(); ++cell) {
    costs[cell] =
        AsDouble(edge.at(static_cast<int64_t>(cell))) + (prices.empty() ? 0 : prices[cell]);
  }
  return std::make_shared<const WholeMinPlus<double>>(std::move(costs), core_.values(edge.a));
}

void MemoryDual::PriceCosts() {
  CorePrices priced = PricesOf(core_, prices_);
  for (size_t e = 0; e < plain_.size(); ++e) {
    const bool now = !priced.cells[e].empty();
    if (now) {
      passing_.SetCosts(static_cast<int>(e), TableOf(core_.edges[e], priced.cells[e]));
    } else if (priced_[e]) {
      passing_.SetCosts(static_cast<int>(e), plain_[e].costs);
    }
    priced_[e] = now;
  }
  for (int v = 0; v < core_.size(); ++v) {
    for (int x = 0; x < core_.values(v); ++x) {
      priced.values[v][x] += static_cast<double>(core_.costs[v][x]);
    }
  }
  passing_.SetUnary(std::move(priced.values));
}

double MemoryDual::Sweep() {
  double bound = *passing_.Sweep();
  for (size_t row = 0; row < prices_.size(); ++row) {
    bound -= prices_[row] * static_cast<double>(core_.room[row]);
  }
  return bound;
}

// Keeps the prices if the bound is the best; goes back to the best ones where none was for a while.
void MemoryDual::Keep(double bound) {
  const double enough = 1e-6 * std::abs(best_);
  if (bound > best_) {
    idle_ = bound > best_ + enough || best_ == -kInfinity ? 0 : idle_ + 1;
    best_ = bound;
    best_prices_ = prices_;
  } else {
    ++idle_;
  }
  if (idle_ < options_.patience) return;
  step_ *= options_.shorter;
  idle_ = 0;
  prices_ = best_prices_;
  PriceCosts();
  if (step_ < options_.shortest) stuck_ = true;
}

void MemoryDual::Step(double target) {
  const double bound = Sweep();
  decoded_.Start(passing_.Decode());
  Keep(bound);
  if (prices_.empty()) return;
  const std::vector<int64_t>& loads = decoded_.loads();
  double square = 0;
  for (size_t row = 0; row < loads.size(); ++row) {
    const double by = static_cast<double>(loads[row] - core_.room[row]);
    direction_[row] = (1 - options_.fresh) * direction_[row] + options_.fresh * by;
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
