#include "search/memory_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "absl/types/optional.h"
#include "search/eliminate.h"
#include "search/memory_plan.h"
#include "search/price_model.h"

namespace yuba {
namespace {

constexpr int kEvaluations = 8;              // of a case
constexpr int kEvaluationsOfLast = 24;       // of one that cannot be split
constexpr int64_t kSums = int64_t{1} << 34;  // of all cases
constexpr size_t kMostCases = 1000;
constexpr size_t kMostConditions = 60;
constexpr double kRise = 1e-3;  // of a bound: less is not worth an elimination
constexpr double kRiseOfLast = 1e-6;
constexpr double kGuess = 1.5;  // of the bound, where no cost is known
constexpr double kFurther = 2;  // reach
constexpr int kReaches = 12;
constexpr double kMostPrice = 1e9;
constexpr double kWeighs = 1e-3;  // of all weights

struct Condition {
  MemorySplit split;
  bool more = false;
};

struct Case {
  std::vector<Condition> conditions;
  std::vector<double> center;  // the best prices, by row
  std::vector<MemoryPrice> prices;
  int64_t bound = 0;
  double reach = 0;               // of a step from the center
  MemorySplit split;              // that should be, or is
  int lesser = -1, greater = -1;  // cases, where it is split
};

class CaseTree {
 public:
  CaseTree(const PairwiseProblem& problem, const CasesOptions& options, const Budget& budget)
      : problem_(problem),
        options_(options),
        budget_(budget),
        known_(options.known),
        usage_(problem.variables.size()) {
    for (const MemoryUse& use : problem.memory.uses) {
      if (usage_[use.variable] == nullptr) usage_[use.variable] = use.usage;
    }
    std::set<int64_t> times;
    for (const MemoryUse& use : problem.memory.uses) times.insert(use.begin);
    for (const MemoryBuffer& buffer : problem.memory.buffers) times.insert(buffer.begin);
    for (const MemoryPrice& price : options.prices) times.insert(price.time);
    times_.assign(times.begin(), times.end());
  }

  CasesFound Run() {
    Case root;
    root.center.assign(times_.size(), 0);
    for (const MemoryPrice& price : options_.prices) {
      const auto row = std::lower_bound(times_.begin(), times_.end(), price.time) - times_.begin();
      root.center[row] = static_cast<double>(price.price) / kPriceUnits;
    }
    EvaluateAt(root.center, Under({}), root);
    Raise(root);
    cases_.push_back(std::move(root));
    int worst = 0;
    while (cases_[worst].bound < known_ && !cases_[worst].split.empty() && work_ < kSums &&
           cases_.size() < kMostCases && !budget_.Spent()) {
      Split(worst);
      worst = Worst();
    }
    CasesFound found;
    found.bound = std::min(known_, cases_[worst].bound);
    List(0, found.cases);
    return found;
  }

 private:
  // That of the least bound.
  int Worst() const {
    int worst = -1;
    for (size_t i = 0; i < cases_.size(); ++i) {
      if (cases_[i].lesser >= 0) continue;
      if (worst < 0 || cases_[i].bound < cases_[worst].bound) worst = static_cast<int>(i);
    }
    return worst;
  }

  void Split(int number) {
    for (const bool more : {false, true}) {
      Case made = cases_[number];
      made.conditions.push_back({made.split, more});
      made.split = MemorySplit();
      made.lesser = -1;
      Raise(made);
      (more ? cases_[number].greater : cases_[number].lesser) = static_cast<int>(cases_.size());
      cases_.push_back(std::move(made));
    }
  }

  // What a split is of, by cell.
  const Cells& CellsOf(const MemorySplit& split) const {
    return split.factor >= 0 ? problem_.factors[split.factor].cells : usage_[split.variable];
  }
  std::vector<int> ScopeOf(const MemorySplit& split) const {
    return split.factor >= 0 ? problem_.factors[split.factor].scope
                             : std::vector<int>{split.variable};
  }
  int64_t At(const MemorySplit& split, const Assignment& assignment) const {
    size_t cell = 0;
    for (const int v : ScopeOf(split)) {
      cell = cell * problem_.variables[v]->size + assignment[v];
    }
    return (*CellsOf(split))[cell];
  }

  bool Meets(const Assignment& assignment, const std::vector<Condition>& conditions) const {
    return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& each) {
      return (At(each.split, assignment) > each.split.bytes) == each.more;
    });
  }

  PairwiseProblem Under(const std::vector<Condition>& conditions) const {
    PairwiseProblem limited = problem_;
    for (const auto& [split, more] : conditions) {
      std::vector<int64_t> cells;
      for (const int64_t bytes : *CellsOf(split)) {
        cells.push_back((bytes > split.bytes) == more ? 0 : kForbidden);
      }
      limited.factors.push_back(
          {ScopeOf(split), std::make_shared<const std::vector<int64_t>>(std::move(cells))});
    }
    return limited;
  }

  // Some steps towards better prices; what they leave open is what to split.
  void Raise(Case& here) {
    const PairwiseProblem limited = Under(here.conditions);
    for (int i = 0; here.bound < known_ && !budget_.Spent(); ++i) {
      const ModelPrices next = NextPrices(here);
      const double rise = next.value - static_cast<double>(here.bound);
      const bool last = here.split.empty();  // there are no cases within this one
      if (i == (last ? kEvaluationsOfLast : kEvaluations) ||
          rise <= (last ? kRiseOfLast : kRise) * static_cast<double>(here.bound)) {
        return;
      }
      const int64_t before = here.bound;
      if (!EvaluateAt(next.prices, limited, here)) return;
      here.reach *= here.bound > before ? kFurther * kFurther : 1 / kFurther;
    }
  }

  // As near to the center as makes the model's bound better, and no farther than makes it `known`.
  ModelPrices NextPrices(Case& here) const {
    std::vector<const PriceLine*> lines;
    std::vector<const Assignment*> met;
    for (const Seen& each : seen_) {
      if (!Meets(each.assignment, here.conditions)) continue;
      lines.push_back(&each.line);
      met.push_back(&each.assignment);
    }
    ModelPrices next;
    next.prices = here.center;
    next.value = static_cast<double>(kForbidden);
    if (lines.empty()) return next;
    const double least = (1 + kRise) * static_cast<double>(here.bound);
    next = BestInModel(lines, here.center, here.reach);
    for (int i = 0; i < kReaches && next.value <= least; ++i) {
      ModelPrices farther = BestInModel(lines, here.center, here.reach * kFurther);
      if (farther.value <= next.value) break;
      next = std::move(farther);
      here.reach *= kFurther;
    }
    for (int i = 0; i < kReaches; ++i) {
      ModelPrices nearer = BestInModel(lines, here.center, here.reach / kFurther);
      if (nearer.value < static_cast<double>(known_)) break;
      next = std::move(nearer);
      here.reach /= kFurther;
    }
    Choose(met, next, here);
    return next;
  }

  // False where there was no time, or the bound is no number.
  bool EvaluateAt(const std::vector<double>& at, const PairwiseProblem& limited, Case& here) {
    std::vector<MemoryPrice> prices;
    for (size_t row = 0; row < at.size(); ++row) {
      const auto price = static_cast<int64_t>(std::min(at[row] * kPriceUnits, kMostPrice));
      if (price > 0) prices.push_back({times_[row], price});
    }
    work_ += options_.sums;
    absl::optional<Solution> exact =
        Eliminate(AtPrices(limited, prices, options_.most), options_.order, budget_);
    const absl::optional<int64_t> room = RoomAtPrices(limited.memory, prices);
    int64_t units = 0;
    if (!exact.has_value() || !room.has_value() ||
        __builtin_sub_overflow(exact->cost, *room, &units)) {
      return false;
    }
    const int64_t bound = BytesOfUnits(units);
    if (bound > here.bound) {
      here.bound = bound;
      here.center = at;
      here.prices = std::move(prices);
    }
    Keep(exact->assignment);
    if (here.reach == 0) here.reach = FirstReach(at, seen_.back().line.excess, here.bound);
    return true;
  }

  // From prices at which so much exceeds the limit, a step that could make the bound `known` (as
  // Polyak's).
  double FirstReach(const std::vector<double>& at, const std::vector<double>& excess,
                    int64_t bound) const {
    double square = 0;
    for (size_t row = 0; row < at.size(); ++row) {
      if (at[row] > 0 || excess[row] > 0) square += excess[row] * excess[row];
    }
    const double target =
        known_ < kForbidden ? static_cast<double>(known_) : kGuess * static_cast<double>(bound);
    return square > 0 ? (1 + target - static_cast<double>(bound)) / square : 1;
  }

  void Keep(const Assignment& assignment) {
    Seen seen = {assignment, {}};
    const int64_t cost = CostOf(problem_, assignment);
    seen.line.cost = static_cast<double>(cost);
    bool within = true;
    for (const int64_t load : Loads(assignment)) {
      seen.line.excess.push_back(static_cast<double>(load - problem_.memory.limit));
      within &= load <= problem_.memory.limit;
    }
    seen_.push_back(std::move(seen));
    if (within && options_.take && cost < known_) {
      known_ = std::min(known_, options_.take(assignment));
    }
  }

  // In use at each of the times; at others no more.
  std::vector<int64_t> Loads(const Assignment& assignment) const {
    std::vector<int64_t> loads(times_.size() + 1, 0);
    const auto add = [&](int64_t begin, int64_t end, int64_t bytes) {
      if (begin >= end) return;
      loads[std::lower_bound(times_.begin(), times_.end(), begin) - times_.begin()] += bytes;
      loads[std::lower_bound(times_.begin(), times_.end(), end) - times_.begin()] -= bytes;
    };
    for (const MemoryUse& use : problem_.memory.uses) {
      add(use.begin, use.end, (*use.usage)[assignment[use.variable]]);
    }
    for (const MemoryBuffer& buffer : problem_.memory.buffers) {
      add(buffer.begin, buffer.end, BytesOf(problem_, buffer, assignment));
    }
    std::partial_sum(loads.begin(), loads.end(), loads.begin());
    loads.pop_back();
    return loads;
  }

  // What differs most in what the best prices mix, at these.
  void Choose(const std::vector<const Assignment*>& met, const ModelPrices& next,
              Case& here) const {
    here.split = MemorySplit();
    if (here.conditions.size() == kMostConditions) return;
    std::vector<double> price_of(problem_.variables.size(), 0);
    for (const MemoryUse& use : problem_.memory.uses) {
      price_of[use.variable] += PriceOf(use.begin, use.end, next.prices);
    }
    double most = 0;
    const auto consider = [&](const MemorySplit& split, double price, const auto& used) {
      double mean = 0, mean_used = 0, apart = 0;
      for (size_t i = 0; i < met.size(); ++i) {
        mean += next.weights[i] * static_cast<double>(At(split, *met[i]));
        mean_used += next.weights[i] * static_cast<double>(used(*met[i]));
      }
      int64_t below = -1, greatest = -1;
      for (size_t i = 0; i < met.size(); ++i) {
        if (next.weights[i] < kWeighs) continue;
        const int64_t bytes = At(split, *met[i]);
        apart += next.weights[i] * std::abs(static_cast<double>(used(*met[i])) - mean_used);
        greatest = std::max(greatest, bytes);
        if (static_cast<double>(bytes) <= mean) below = std::max(below, bytes);
      }
      if (below < 0 || below >= greatest || apart * price <= most) return;
      most = apart * price;
      here.split = split;
      here.split.bytes = below;
    };
    for (const int v : options_.variables) {
      const MemorySplit split = {v, -1, 0};
      consider(split, price_of[v], [&](const Assignment& each) { return At(split, each); });
    }
    for (const MemoryBuffer& buffer : problem_.memory.buffers) {
      consider({-1, buffer.factor, 0}, PriceOf(buffer.begin, buffer.end, next.prices),
               [&](const Assignment& each) { return BytesOf(problem_, buffer, each); });
    }
    for (size_t f = 0; f < problem_.factors.size() && here.split.empty(); ++f) {
      const MemorySplit split = {-1, static_cast<int>(f), 0};
      consider(split, 1, [&](const Assignment& each) { return At(split, each); });
    }
  }

  double PriceOf(int64_t begin, int64_t end, const std::vector<double>& prices) const {
    double price = 0;
    for (size_t row = 0; row < times_.size(); ++row) {
      if (begin <= times_[row] && times_[row] < end) price += prices[row];
    }
    return price;
  }

  void List(int number, std::vector<MemoryCase>& list) const {
    const Case& here = cases_[number];
    if (here.lesser < 0) {
      list.push_back({{}, here.prices});
      return;
    }
    list.push_back({here.split, {}});
    List(here.lesser, list);
    List(here.greater, list);
  }

  struct Seen {
    Assignment assignment;
    PriceLine line;
  };

  const PairwiseProblem& problem_;
  const CasesOptions& options_;
  const Budget& budget_;
  int64_t known_, work_ = 0;
  std::vector<Cells> usage_;    // by variable: of its first use
  std::vector<int64_t> times_;  // of the rows
  std::vector<Seen> seen_;      // the cheapest at some prices, of some case
  std::vector<Case> cases_;
};

}  // namespace

CasesFound BoundByCases(const PairwiseProblem& problem, const CasesOptions& options,
                        const Budget& budget) {
  return CaseTree(problem, options, budget).Run();
}

}  // namespace yuba
