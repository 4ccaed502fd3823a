#include "search/memory_cases.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "absl/types/optional.h"
#include "search/eliminate.h"
#include "search/memory_plan.h"

namespace yuba {
namespace {

constexpr int kEvaluations = 8;              // of a case
constexpr int kVisits = 3;                   // of a case that cannot be split
constexpr int64_t kSums = int64_t{1} << 31;  // of all cases
constexpr size_t kMostCases = 500;
constexpr size_t kMostConditions = 60;
constexpr double kKept = 0.5;     // of a direction, from one step to the next
constexpr double kShorter = 0.8;  // steps after one that was too long
constexpr double kMostPrice = 1e9;

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
  }

  CasesFound Run() {
    Case root;
    root.prices = options_.prices;
    Evaluate(root);
    cases_.push_back(std::move(root));
    int worst = 0;
    while (cases_[worst].bound < known_ && work_ < kSums && cases_.size() < kMostCases &&
           !budget_.Spent()) {
      if (cases_[worst].split >= 0) {
        Split(worst);
      } else if (++cases_[worst].visits < kVisits) {
        Evaluate(cases_[worst]);
      } else {
        break;
      }
      worst = Worst();
    }
    CasesFound found;
    found.bound = std::min(known_, cases_[worst].bound);
    List(0, found.cases);
    return found;
  }

 private:
  struct Condition {
    int variable = 0;
    int64_t bytes = 0;
    bool more = false;
  };
  struct Case {
    std::vector<Condition> conditions;
    std::vector<MemoryPrice> prices;
    int64_t bound = 0;
    int visits = 0;
    int split = -1;  // the variable that should be, or is
    int64_t bytes = 0;
    int lesser = -1, greater = -1;  // cases, where it is split
  };
  using ByTime = std::map<int64_t, double>;

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
      Case made;
      made.conditions = cases_[number].conditions;
      made.conditions.push_back({cases_[number].split, cases_[number].bytes, more});
      made.prices = cases_[number].prices;
      made.bound = cases_[number].bound;
      Evaluate(made);
      (more ? cases_[number].greater : cases_[number].lesser) = static_cast<int>(cases_.size());
      cases_.push_back(std::move(made));
    }
  }

  PairwiseProblem Under(const std::vector<Condition>& conditions) const {
    PairwiseProblem limited = problem_;
    for (const Condition& condition : conditions) {
      std::vector<int64_t> cells;
      for (const int64_t bytes : *usage_[condition.variable]) {
        cells.push_back((bytes > condition.bytes) == condition.more ? 0 : kForbidden);
      }
      limited.factors.push_back({{condition.variable},
                                 std::make_shared<const std::vector<int64_t>>(std::move(cells))});
    }
    return limited;
  }

  static std::vector<MemoryPrice> Rounded(const ByTime& prices) {
    std::vector<MemoryPrice> rounded;
    for (const auto& [time, price] : prices) {
      if (price >= 1) rounded.push_back({time, static_cast<int64_t>(std::min(price, kMostPrice))});
    }
    return rounded;
  }

  // Some steps towards better prices (subgradients, their directions averaged); what they leave
  // open is what to split.
  void Evaluate(Case& here) {
    const PairwiseProblem limited = Under(here.conditions);
    ByTime prices, direction;
    for (const MemoryPrice& price : here.prices) prices[price.time] = price.price;
    std::vector<Assignment> seen;
    double step = 1;
    for (int i = 0; i < kEvaluations && here.bound < known_ && !budget_.Spent(); ++i) {
      std::vector<MemoryPrice> rounded = Rounded(prices);
      absl::optional<Assignment> cheapest;
      const absl::optional<int64_t> bound = BoundAt(limited, rounded, cheapest);
      if (!bound.has_value()) break;
      if (*bound > here.bound) {
        here.bound = *bound;
        here.prices = std::move(rounded);
      } else {
        step *= kShorter;
      }
      const std::map<int64_t, int64_t> loads = Loads(*cheapest);
      Take(*cheapest, loads);
      if (!Move(loads, step, *bound, prices, direction)) break;
      seen.push_back(*std::move(cheapest));
    }
    Choose(seen, here);
  }

  absl::optional<int64_t> BoundAt(const PairwiseProblem& limited,
                                  const std::vector<MemoryPrice>& prices,
                                  absl::optional<Assignment>& cheapest) {
    work_ += options_.sums;
    absl::optional<Solution> exact =
        Eliminate(AtPrices(limited, prices, options_.most), options_.order, budget_);
    const absl::optional<int64_t> room = RoomAtPrices(limited.memory, prices);
    int64_t units = 0;
    if (!exact.has_value() || !room.has_value() ||
        __builtin_sub_overflow(exact->cost, *room, &units)) {
      return absl::nullopt;
    }
    cheapest = std::move(exact->assignment);
    return BytesOfUnits(units);
  }

  void Take(const Assignment& assignment, const std::map<int64_t, int64_t>& loads) {
    for (const auto& [time, load] : loads) {
      if (load > problem_.memory.limit) return;
    }
    if (options_.take && CostOf(problem_, assignment) < known_) {
      known_ = std::min(known_, options_.take(assignment));
    }
  }

  // False where prices need not move.
  bool Move(const std::map<int64_t, int64_t>& loads, double step, int64_t bound, ByTime& prices,
            ByTime& direction) const {
    double square = 0;
    for (const auto& [time, load] : loads) {
      double& towards = direction[time];
      const auto over = static_cast<double>(load - problem_.memory.limit);
      towards = kKept * towards + (1 - kKept) * over;
      if (towards > 0 || prices[time] > 0) square += towards * towards;
    }
    if (square == 0) return false;
    const double target = known_ < kForbidden ? static_cast<double>(known_) : 2.0 * bound + 1;
    const double length =
        step * kPriceUnits * std::max(target - static_cast<double>(bound), 1e-3 * target) / square;
    for (const auto& [time, towards] : direction) {
      prices[time] = std::max(0.0, prices[time] + length * towards);
    }
    return true;
  }

  // In use from each point of time at which that changes.
  std::map<int64_t, int64_t> Loads(const Assignment& assignment) const {
    std::map<int64_t, int64_t> loads;
    const auto add = [&](int64_t begin, int64_t end, int64_t bytes) {
      if (begin >= end) return;
      loads[begin] += bytes;
      loads[end] -= bytes;
    };
    for (const MemoryUse& use : problem_.memory.uses) {
      add(use.begin, use.end, (*use.usage)[assignment[use.variable]]);
    }
    for (const MemoryBuffer& buffer : problem_.memory.buffers) {
      add(buffer.begin, buffer.end, BytesOf(problem_, buffer, assignment));
    }
    int64_t load = 0;
    for (auto& [time, by] : loads) by = load += by;
    return loads;
  }

  // The variable whose usages differ most, at the prices.
  void Choose(const std::vector<Assignment>& seen, Case& here) const {
    here.split = -1;
    if (here.conditions.size() == kMostConditions) return;
    std::map<int, double> price_of;
    for (const MemoryUse& use : problem_.memory.uses) {
      for (const MemoryPrice& price : here.prices) {
        const bool meets = use.begin <= price.time && price.time < use.end;
        if (meets) price_of[use.variable] += static_cast<double>(price.price);
      }
    }
    double most = 0;
    for (const int v : options_.variables) {
      int64_t least = std::numeric_limits<int64_t>::max(), greatest = 0;
      for (const Assignment& each : seen) {
        least = std::min(least, (*usage_[v])[each[v]]);
        greatest = std::max(greatest, (*usage_[v])[each[v]]);
      }
      if (least >= greatest) continue;
      const double open = static_cast<double>(greatest - least) * price_of[v];
      if (open <= most) continue;
      most = open;
      here.split = v;
      here.bytes = least;
    }
  }

  void List(int number, std::vector<MemoryCase>& list) const {
    const Case& here = cases_[number];
    if (here.lesser < 0) {
      list.push_back({-1, 0, here.prices});
      return;
    }
    list.push_back({here.split, here.bytes, {}});
    List(here.lesser, list);
    List(here.greater, list);
  }

  const PairwiseProblem& problem_;
  const CasesOptions& options_;
  const Budget& budget_;
  int64_t known_, work_ = 0;
  std::vector<Cells> usage_;  // by variable: of its first use
  std::vector<Case> cases_;
};

}  // namespace

CasesFound BoundByCases(const PairwiseProblem& problem, const CasesOptions& options,
                        const Budget& budget) {
  return CaseTree(problem, options, budget).Run();
}

}  // namespace yuba
