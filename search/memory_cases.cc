#include "search/memory_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "absl/types/optional.h"
#include "search/eliminate.h"
#include "search/memory_core.h"
#include "search/memory_plan.h"

namespace yuba {
namespace {

const int kEvaluations = getenv("EV")?atoi(getenv("EV")):12;                 // of a case
constexpr int64_t kSums = int64_t{1} << 32;      // of all cases
constexpr size_t kMostCases = 1000;
const double kKept = getenv("KE")?atof(getenv("KE")):0.7;                    // of a direction, from one step to the next

class Splitting {
 public:
  Splitting(const PairwiseProblem& problem, const CasesOptions& options, const Budget& budget)
      : problem_(problem), options_(options), budget_(budget), known_(options.known) {
    std::map<int64_t, bool> at;
    for (const MemoryUse& use : problem.memory.uses) at[use.begin] = true;
    for (const MemoryBuffer& buffer : problem.memory.buffers) at[buffer.begin] = true;
    for (const auto& [time, is] : at) times_.push_back(time);
    usage_.resize(problem.variables.size());
    for (const MemoryUse& use : problem.memory.uses) {
      if (usage_[use.variable] == nullptr) usage_[use.variable] = use.usage;
    }
  }

  CasesFound Run() {
    Case root;
    root.prices = options_.prices;
    Evaluate(root);
    cases_.push_back(std::move(root));
    while (true) {
      const int worst = Worst();
      if (worst < 0 || cases_[worst].bound >= known_) break;
      if (work_ > kSums || cases_.size() > kMostCases || budget_.Spent()) break;
      if (cases_[worst].split < 0) {
        if (++cases_[worst].again > 3) break;
        Evaluate(cases_[worst]);
      } else {
        Split(worst);
      }
    }
    CasesFound found;
    found.bound = known_;
    for (const Case& each : cases_) {
      if (each.lesser < 0) found.bound = std::min(found.bound, each.bound);
    }
    fprintf(stderr, "DBG cases %zu bound %lld known %lld work %lld\n", cases_.size(), (long long)found.bound, (long long)known_, (long long)work_);
    List(0, found.cases);
    return found;
  }

 private:
  struct Case {
    std::vector<std::pair<int, std::pair<int64_t, bool>>> conditions;  // variable, bytes, more
    std::vector<MemoryPrice> prices;
    int64_t bound = 0;
    int split = -1;  // the variable to be split
    int64_t bytes = 0;
    int lesser = -1, greater = -1;
    int again = 0;
  };

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
      made.conditions.push_back({cases_[number].split, {cases_[number].bytes, more}});
      made.prices = cases_[number].prices;
      made.bound = cases_[number].bound;
      Evaluate(made);
      (more ? cases_[number].greater : cases_[number].lesser) = static_cast<int>(cases_.size());
      cases_.push_back(std::move(made));
    }
  }

  void Evaluate(Case& here) {
    PairwiseProblem limited = problem_;
    for (const auto& [variable, condition] : here.conditions) {
      std::vector<int64_t> cells;
      for (const int64_t bytes : *usage_[variable]) {
        cells.push_back((bytes > condition.first) == condition.second ? 0 : kForbidden);
      }
      limited.factors.push_back(
          {{variable}, std::make_shared<const std::vector<int64_t>>(std::move(cells))});
    }
    std::map<int64_t, double> prices, direction;
    for (const MemoryPrice& price : here.prices) prices[price.time] = static_cast<double>(price.price);
    std::map<int64_t, double> best = prices;
    std::vector<Assignment> seen;
    double step = 1;
    for (int i = 0; i < kEvaluations && !budget_.Spent(); ++i) {
      std::vector<MemoryPrice> at;
      for (const auto& [time, price] : prices) {
        if (price >= 1) at.push_back({time, static_cast<int64_t>(std::min(price, 4e12))});
      }
      const absl::optional<Solution> exact =
          Eliminate(AtPrices(limited, at, options_.most), options_.order, budget_);
      work_ += options_.sums;
      const absl::optional<int64_t> room = RoomAtPrices(limited.memory, at);
      int64_t units = 0;
      if (!exact.has_value() || !room.has_value() ||
          __builtin_sub_overflow(exact->cost, *room, &units)) {
        break;
      }
      const int64_t bound = BytesOfUnits(units);
      if (bound > here.bound || i == 0) {
        here.bound = std::max(bound, here.bound);
        here.prices = at;
        best = prices;
      } else {
        step *= 0.8;
      }
      if (here.bound >= known_) return;
      seen.push_back(exact->assignment);
      const Assignment& now = seen.back();
      std::map<int64_t, int64_t> loads = Loads(now);
      const int64_t cost = CostOf(problem_, now);
      int64_t peak = 0;
      for (const auto& [time, load] : loads) peak = std::max(peak, load);
      if (peak <= problem_.memory.limit && cost < known_ && options_.take) {
        known_ = std::min(known_, options_.take(now));
      }
      double square = 0;
      for (const auto& [time, load] : loads) {
        double& towards = direction[time];
        towards = kKept * towards + (1 - kKept) * static_cast<double>(load - problem_.memory.limit);
        if (towards > 0 || prices[time] > 0) square += towards * towards;
      }
      if (square == 0) break;
      const double target = static_cast<double>(known_ < kForbidden ? known_ : 2 * here.bound + 1);
      const double length = step * kPriceUnits * std::max(target - static_cast<double>(bound), 1e-3 * target) / square;
      for (const auto& [time, towards] : direction) {
        prices[time] = std::max(0.0, prices[time] + length * towards);
      }
    }
    Choose(seen, here);
  }

  // In use by point of time.
  std::map<int64_t, int64_t> Loads(const Assignment& assignment) const {
    std::map<int64_t, int64_t> change;
    for (const MemoryUse& use : problem_.memory.uses) {
      if (use.begin >= use.end) continue;
      const int64_t bytes = (*use.usage)[assignment[use.variable]];
      change[use.begin] += bytes;
      change[use.end] -= bytes;
    }
    for (const MemoryBuffer& buffer : problem_.memory.buffers) {
      const int64_t bytes = BytesOf(problem_, buffer, assignment);
      change[buffer.begin] += bytes;
      change[buffer.end] -= bytes;
    }
    int64_t load = 0;
    for (auto& [time, by] : change) by = load += by;
    return change;
  }

  // The variable of whose uses prices are least sure.
  void Choose(const std::vector<Assignment>& seen, Case& here) const {
    double most = 0;
    for (const int v : options_.candidates) {
      int64_t low = std::numeric_limits<int64_t>::max(), high = 0;
      for (const Assignment& each : seen) {
        low = std::min(low, (*usage_[v])[each[v]]);
        high = std::max(high, (*usage_[v])[each[v]]);
      }
      if (low >= high) continue;
      double price = 0;
      for (const MemoryUse& use : problem_.memory.uses) {
        if (use.variable != v) continue;
        for (const MemoryPrice& each : here.prices) {
          if (use.begin <= each.time && each.time < use.end) price += static_cast<double>(each.price);
        }
      }
      const double open = static_cast<double>(high - low) * price;
      if (open <= most) continue;
      most = open;
      here.split = v;
      here.bytes = low;
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
  std::vector<int64_t> times_;
  std::vector<Cells> usage_;  // by variable: of its first use
  std::vector<Case> cases_;
};

}  // namespace

CasesFound BoundByCases(const PairwiseProblem& problem, const CasesOptions& options,
                        const Budget& budget) {
  return Splitting(problem, options, budget).Run();
}

}  // namespace yuba
