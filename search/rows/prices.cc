#include "search/rows/prices.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "opsemantics/base/arithmetic.h"
#include "search/rows/memory_core.h"
#include "search/rows/memory_dual.h"
#include "search/rows/memory_region.h"
#include "search/rows/memory_search.h"
#include "search/solve/eliminate.h"
#include "search/solve/relax.h"

namespace yuba::search {
namespace {

constexpr int kEvaluations = 5;                   // eliminations to find the factor of the prices
constexpr int64_t kScaleSums = int64_t{1} << 31;  // of all evaluations but the first
constexpr int64_t kKnownSums = int64_t{1} << 26;  // of an elimination where a plan is known
constexpr double kEnough = 1e-3;  // of the bound: what another evaluation must be able to gain
constexpr int kStepsBetweenLooks = 50;    // of the prices, between looks for assignments
constexpr int kRoundsBetweenSteps = 100;  // of local search in such a look
constexpr size_t kNear = 3;               // assignments that Solve leaves for the next target
constexpr double kGuess = 1.05;  // times the bound: the cost of a plan, where none is known

// The price of one byte in use during [begin, end), in units.
int64_t PriceDuring(const std::vector<MemoryPrice>& prices, int64_t begin, int64_t end) {
  int64_t sum = 0;
  for (const MemoryPrice& price : prices) {
    if (begin <= price.time && price.time < end) sum = CheckedAdd(sum, price.price);
  }
  return sum;
}

int64_t LeastOf(const MemoryUse& use) {
  return *std::min_element(use.usage->begin(), use.usage->end());
}

// Of one factor: (usage, whether it is by value of the first variable, price of a byte), which
// count where the factor costs anything.
using PricedBuffers = std::vector<std::tuple<Cells, bool, int64_t>>;

Cells InUnits(const std::vector<int64_t>& cells, const PricedBuffers& buffers,
              const PriceScale& scale) {
  std::vector<int64_t> scaled;
  for (int64_t cell : cells) {
    scaled.push_back(UnitsOf(scale, cell >= kForbidden ? kNever : cell));
  }
  for (const auto& [usage, first, price] : buffers) {
    const size_t values = usage->size(), columns = first ? cells.size() / values : 1;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!IsMoved(cells[i]) || cells[i] >= kForbidden) continue;
      scaled[i] += PricedUse((*usage)[i / columns % values], price, scale.most);
    }
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(scaled));
}

std::vector<PricedBuffers> BuffersAtPrices(const PairwiseProblem& problem,
                                           const std::vector<MemoryPrice>& prices) {
  std::vector<PricedBuffers> priced(problem.factors.size());  // by factor
  for (const MemoryBuffer& buffer : problem.memory.buffers) {
    const int64_t price = PriceDuring(prices, buffer.begin, buffer.end);
    if (price > 0) priced[buffer.factor].emplace_back(buffer.usage, buffer.first, price);
  }
  return priced;
}

// The bytes that the assignment uses at the prices, in units.
double UsedAtPrices(const PairwiseProblem& problem, const std::vector<MemoryPrice>& prices,
                    const Assignment& assignment) {
  double used = 0;
  for (const MemoryUse& use : problem.memory.uses) {
    const double price = static_cast<double>(PriceDuring(prices, use.begin, use.end));
    used += price * (*use.usage)[assignment[use.variable]];
  }
  for (const MemoryBuffer& buffer : problem.memory.buffers) {
    const double price = static_cast<double>(PriceDuring(prices, buffer.begin, buffer.end));
    used += price * BytesOf(problem, buffer, assignment);
  }
  return used;
}

}  // namespace

std::vector<MemoryPrice> GoodPrices(const PairwiseProblem& problem, const PriceSearch& options,
                                    const Budget& budget, int64_t* bound_of_prices) {
  std::vector<MemoryPrice> prices;
  const absl::optional<MemoryCore> core = MakeCore(problem);
  if (!core.has_value() || core->room.empty()) return prices;
  MemoryDualOptions dual_options;
  dual_options.patience = options.patience;
  MemoryDual dual(*core, dual_options);
  if (!options.start.empty()) dual.Start(core->PricesByRow(options.start));
  MemorySearch search(*core, 1);
  search.Start(core->Reduce(LeastUsage(problem)));
  const auto target_of = [&](int64_t cost) {  // of a plan, if there is one yet
    return cost < kForbidden ? static_cast<double>(cost) : kGuess * dual.bound() + 1;
  };
  double before = 0;                                       // the bound at the last look
  int64_t least = std::min(options.known, search.cost());  // least usages fit if anything does
  for (int step = 0; step < options.steps && !dual.stuck() && !budget.ShouldStop(); ++step) {
    if (step % kStepsBetweenLooks == 0) {
      search.SetPrices(dual.prices());
      for (int round = 0; round < kRoundsBetweenSteps; ++round) search.Round();
      if (search.Feasible()) least = std::min(least, search.cost());
      if (step > 0 && least <= dual.bound()) break;
      const auto bound = static_cast<double>(dual.bound());
      if (step >= options.steps / 3 && bound - before < options.rise * bound) break;
      before = bound;
    }
    dual.Step(target_of(least));
    if (dual.bound() >= options.enough) break;
  }
  if (bound_of_prices != nullptr) *bound_of_prices = dual.bound();
  for (size_t row = 0; row < dual.prices().size(); ++row) {
    const double units = std::floor(dual.prices()[row] * static_cast<double>(core->scale.units));
    if (units >= 1) {
      prices.push_back(
          {core->times.time(static_cast<int>(row)), static_cast<int64_t>(std::min(units, 1e9))});
    }
  }
  return prices;
}

PairwiseProblem AtPrices(const PairwiseProblem& problem, const std::vector<MemoryPrice>& prices) {
  const PriceScale& scale = problem.memory.scale;
  PairwiseProblem priced;
  priced.variables = problem.variables;
  const std::vector<PricedBuffers> buffers = BuffersAtPrices(problem, prices);
  std::map<std::pair<Cells, PricedBuffers>, Cells> scaled;
  for (size_t f = 0; f < problem.factors.size(); ++f) {
    const Factor& factor = problem.factors[f];
    Cells& cells = scaled[{factor.cells, buffers[f]}];
    if (cells == nullptr) cells = InUnits(*factor.cells, buffers[f], scale);
    priced.factors.push_back({factor.scope, cells});
  }
  std::map<std::pair<Cells, int64_t>, Cells> known;
  for (const MemoryUse& use : problem.memory.uses) {
    const int64_t price = PriceDuring(prices, use.begin, use.end);
    if (price == 0) continue;
    Cells& cells = known[{use.usage, price}];
    if (cells == nullptr) {
      std::vector<int64_t> units;
      for (const int64_t bytes : *use.usage) {
        units.push_back(PricedUse(bytes - LeastOf(use), price, scale.most));
      }
      cells = std::make_shared<const std::vector<int64_t>>(std::move(units));
    }
    priced.factors.push_back({{use.variable}, cells});
  }
  return priced;
}

absl::optional<int64_t> RoomAtPrices(const MemoryRows& rows,
                                     const std::vector<MemoryPrice>& prices) {
  int64_t units = 0;
  for (const MemoryPrice& price : prices) {
    int64_t room = rows.limit;
    for (const MemoryUse& use : rows.uses) {
      if (price.time < use.begin || use.end <= price.time) continue;
      if (__builtin_sub_overflow(room, LeastOf(use), &room)) return absl::nullopt;
    }
    if (__builtin_mul_overflow(room, price.price, &room) ||
        __builtin_add_overflow(units, room, &units)) {
      return absl::nullopt;
    }
  }
  return units;
}

absl::optional<PricedBound> BoundAtPrices(const PairwiseProblem& problem,
                                          const std::vector<MemoryPrice>& prices,
                                          const std::vector<int>& order, const Budget& budget) {
  absl::optional<Solution> exact = Eliminate(AtPrices(problem, prices), order, budget);
  const absl::optional<int64_t> room = RoomAtPrices(problem.memory, prices);
  int64_t units = 0;
  if (!exact.has_value() || !room.has_value() ||
      __builtin_sub_overflow(exact->cost, *room, &units)) {
    return absl::nullopt;
  }
  return PricedBound{BytesOfUnits(problem.memory.scale, units), std::move(exact->assignment)};
}

LimitSolver::LimitSolver(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
                         int64_t table_cells, int64_t known, const Budget& budget)
    : problem_(problem), table_cells_(table_cells), known_(known), budget_(budget) {
  PairwiseProblem relaxed = Relaxed(problem, classes);
  relaxed.memory = RelaxedRows(problem, classes);
  PriceSearch search;
  search.enough = known;
  int64_t bound = 0;
  std::vector<MemoryPrice> prices = GoodPrices(relaxed, search, budget_, &bound);
  if (bound < known) {
    Scale(prices);
  } else {
    bound_ = bound;
    prices_ = std::move(prices);
  }
}

// Finds the best common factor of the prices. Over that factor, cost plus priced use of one
// assignment is a line, and the bound is the least of all lines, so it is concave: two lines, on
// both sides of its top, cross where to look next.
void LimitSolver::Scale(const std::vector<MemoryPrice>& prices) {
  // Prices by time tell tables apart that are equal without them.
  const absl::optional<Order> order = GreedyOrder(problem_, table_cells_, budget_, true);
  // Without prices the elimination gives the cheapest assignment of all, which is always of use.
  const bool known = known_ < kForbidden && !prices.empty();
  if (!order.has_value() || (known && order->sums > kKnownSums)) {
    prices_ = prices;
    return;
  }
  sums_ = order->sums;
  double at_limit = 0;
  for (const MemoryPrice& price : prices) at_limit += 1.0 * price.price * problem_.memory.limit;
  struct Line {
    double scale = 0, value = 0, slope = 0;
  };
  Line low, high;
  double scale = 1;
  for (int evaluation = 0; evaluation < kEvaluations; ++evaluation) {
    std::vector<MemoryPrice> scaled = prices;
    for (MemoryPrice& price : scaled) {
      price.price = static_cast<int64_t>(static_cast<double>(price.price) * scale);
    }
    if (!Evaluate(scaled, order->variables)) {
      if (order_.empty()) prices_ = prices;
      return;
    }
    const int64_t most_sums = known ? kScaleSums / 4 : kScaleSums;
    if (sums_ > most_sums / (evaluation + 1) || bound_ >= known_) return;
    Line here{scale, 0, UsedAtPrices(problem_, prices, starts_.back()) - at_limit};
    here.value = static_cast<double>(problem_.memory.scale.units) *
                     static_cast<double>(CostOf(problem_, starts_.back())) +
                 scale * here.slope;
    if (here.slope == 0) return;
    (here.slope > 0 ? low : high) = here;
    if (low.scale == 0 || high.scale == 0) {
      scale *= here.slope > 0 ? 1.5 : 1 / 1.5;
      continue;
    }
    scale = (low.value - low.slope * low.scale - high.value + high.slope * high.scale) /
            (high.slope - low.slope);
    if (!(scale > 0)) return;  // costs that are capped are no lines
    const double most = low.value + low.slope * (scale - low.scale);
    if (most - std::max(low.value, high.value) < kEnough * most) return;
  }
}

// Eliminates at these prices; keeps the bound if it is the best. False where there is none.
bool LimitSolver::Evaluate(const std::vector<MemoryPrice>& prices, const std::vector<int>& order) {
  absl::optional<PricedBound> found = BoundAtPrices(problem_, prices, order, budget_);
  if (!found.has_value()) return false;
  if (order_.empty() || found->bytes > bound_) {
    bound_ = found->bytes;
    order_ = order;
    prices_ = prices;
  }
  starts_.push_back(std::move(found->assignment));
  return true;
}

absl::optional<Assignment> LimitSolver::Solve(int64_t target, std::vector<Assignment>* near) const {
  PairwiseProblem tight = problem_;
  tight.memory.limit = target;
  const absl::optional<MemoryCore> core = MakeCore(tight);
  if (!core.has_value() || core->least_peak > target) return absl::nullopt;
  std::vector<Assignment> starts;
  const auto add = [&](const Assignment& start) {
    Assignment reduced = core->Reduce(start);
    const bool known = std::find(starts.begin(), starts.end(), reduced) != starts.end();
    if (!known) starts.push_back(std::move(reduced));
  };
  for (const Assignment& start : near == nullptr || near->empty() ? starts_ : *near) add(start);
  add(LeastUsage(problem_));  // but for buffers, within the target if anything is
  std::vector<Solution> found = SearchWithin(*core, prices_, starts, bound_, budget_);
  const int64_t least = found.empty() ? kForbidden : found[0].cost;
  if (least > bound_ && !budget_.ShouldStop()) {
    const Assignment& from = found.empty() ? starts.back() : found[0].assignment;
    absl::optional<Solution> better =
        TryRest(*core, prices_, from, least, [](const Assignment&) { return true; });
    if (better.has_value()) found.insert(found.begin(), *std::move(better));
  }
  if (near != nullptr) near->clear();
  for (size_t i = 0; near != nullptr && i < std::min(found.size(), kNear); ++i) {
    near->push_back(core->Expand(found[i].assignment));
  }
  if (found.empty()) return absl::nullopt;
  return core->Expand(found[0].assignment);
}

Assignment LimitSolver::Improve(const Assignment& start, int64_t least,
                                const std::function<bool(const Assignment&)>& accept) const {
  if (least <= bound_ || budget_.ShouldStop()) return start;
  absl::optional<MemoryCore> core = MakeCore(problem_, Leaves::kAll);
  if (core.has_value() && core->size() > Region::kMostVariables) core = MakeCore(problem_);
  if (!core.has_value()) return start;
  const absl::optional<Solution> better =
      TryRest(*core, prices_, core->Reduce(start), least,
              [&](const Assignment& tried) { return accept(core->Expand(tried)); });
  return better.has_value() ? core->Expand(better->assignment) : start;
}

Assignment LeastUsage(const PairwiseProblem& problem) {
  Assignment assignment(problem.variables.size(), 0);
  std::vector<std::vector<const Factor*>> pairs(problem.variables.size());  // by the later variable
  for (const Factor& factor : problem.factors) {
    if (factor.scope.size() == 2) {
      pairs[std::max(factor.scope[0], factor.scope[1])].push_back(&factor);
    }
  }
  std::vector<std::vector<int64_t>> sums(problem.variables.size());
  for (const MemoryUse& use : problem.memory.uses) {
    std::vector<int64_t>& sum = sums[use.variable];
    sum.resize(use.usage->size(), 0);
    for (size_t value = 0; value < sum.size(); ++value) sum[value] += (*use.usage)[value];
  }
  for (size_t v = 0; v < sums.size(); ++v) {
    sums[v].resize(problem.variables[v]->size, 0);
    const auto allowed = [&](int value) {
      assignment[v] = value;
      return std::all_of(pairs[v].begin(), pairs[v].end(), [&](const Factor* factor) {
        const int row = assignment[factor->scope[0]], column = assignment[factor->scope[1]];
        const int64_t columns = problem.variables[factor->scope[1]]->size;
        return CellOf(*factor, row, column, columns) < kForbidden;
      });
    };
    std::vector<int> values(sums[v].size());
    std::iota(values.begin(), values.end(), 0);
    std::stable_sort(values.begin(), values.end(),
                     [&](int a, int b) { return sums[v][a] < sums[v][b]; });
    const auto first = std::find_if(values.begin(), values.end(), allowed);
    assignment[v] = first == values.end() ? values[0] : *first;
  }
  return assignment;
}

}  // namespace yuba::search
