#include "search/memory_cases.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "search/price_model.h"

namespace yuba {
namespace {

constexpr int kEvaluations = 8;              // of a case
constexpr int kEvaluationsOfLast = 24;       // of one that cannot be split
constexpr size_t kMostLines = 64;            // of a model
constexpr int64_t kHope = 64;                // part of what a bound lacks
constexpr double kRise = 1e-3;               // of a bound: less is not worth an elimination
constexpr double kRiseOfLast = 1e-6;
constexpr double kGuess = 1.5;         // of the bound, where no cost is known
constexpr double kLonger = 2;          // a step
constexpr int kTries = 12;             // of longer or shorter steps
constexpr double kLongestStep = 1e12;  // bytes moved a byte in use, a byte above the limit
constexpr double kMostPrice = 1e9;
constexpr double kWeighs = 1e-3;  // of all weights

struct Case {
  std::vector<MemoryCondition> conditions;
  std::vector<double> center;  // the best prices, by row
  std::vector<MemoryPrice> prices;
  std::vector<DualMessage> messages;
  int64_t bound = 0, cells = 0;   // of the conditions' tables
  double step = 0;                // from the center
  MemorySplit split;              // that should be, or is
  int lesser = -1, greater = -1;  // cases, where it is split
};

struct Seen {
  Assignment assignment;
  PriceLine line;
};

class CaseTree {
 public:
  CaseTree(const PairwiseProblem& problem, const CasesOptions& options, const Budget& budget)
      : problem_(problem),
        options_(options),
        budget_(budget),
        splits_(problem),
        times_(Times()),
        known_(options.known) {}

  CasesFound Run() {
    Case root;
    root.center.assign(times_.size(), 0);
    for (const MemoryPrice& price : options_.prices) {
      root.center[RowOf(price.time)] = static_cast<double>(price.price) / kPriceUnits;
    }
    Evaluate(root.center, problem_, root);
    Raise(root);
    cases_.push_back(std::move(root));
    int worst = 0;
    marked_ = cases_[worst].bound;
    while (cases_[worst].bound < known_ && !cases_[worst].split.empty() && HasWork() &&
           HasRoomForTwo() && KeepsRising(cases_[worst].bound) && !budget_.Spent()) {
      Split(worst);
      worst = Worst();
    }
    CasesFound found;
    found.bound = std::min(known_, cases_[worst].bound);
    List(0, found.cases);
    return found;
  }

 private:
  // The rows: where more comes into use, if the limit may be exceeded there.
  std::vector<int64_t> Times() const {
    std::map<int64_t, int64_t> change;
    std::set<int64_t> begins;
    const auto add = [&](int64_t begin, int64_t end, const Cells& usage) {
      if (begin >= end) return;
      const int64_t most = *std::max_element(usage->begin(), usage->end());
      change[begin] += most;
      change[end] -= most;
      begins.insert(begin);
    };
    for (const MemoryUse& use : problem_.memory.uses) add(use.begin, use.end, use.usage);
    for (const MemoryBuffer& each : problem_.memory.buffers) add(each.begin, each.end, each.usage);
    std::set<int64_t> times;
    int64_t load = 0;
    for (const auto& [time, by] : change) {
      load += by;
      if (load > problem_.memory.limit && begins.count(time) > 0) times.insert(time);
    }
    for (const MemoryPrice& price : options_.prices) times.insert(price.time);
    return {times.begin(), times.end()};
  }
  size_t RowOf(int64_t time) const {
    return std::lower_bound(times_.begin(), times_.end(), time) - times_.begin();
  }

  // Models' numbers count as sums.
  bool HasWork() const { return work_ < options_.most_sums; }
  // Whether the bound rises, by a part of what it lacks, as long as there is patience.
  bool KeepsRising(int64_t bound) {
    if (work_ - work_marked_ < options_.patience) return true;
    const bool rises = bound - marked_ > (known_ - marked_) / kHope;
    marked_ = bound;
    work_marked_ = work_;
    return rises;
  }
  bool HasRoomForTwo() const {
    const size_t cases = cases_.size() + 2;
    return cases <= options_.most_cases &&
           options_.sums <= kMostCaseSums / static_cast<int64_t>(cases / 2 + 1);
  }

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
      made.cells += splits_.CellCount(made.split);
      made.split = MemorySplit();
      made.lesser = -1;
      Raise(made);
      (more ? cases_[number].greater : cases_[number].lesser) = static_cast<int>(cases_.size());
      cases_.push_back(std::move(made));
    }
  }

  // Steps to better prices; what they leave open is what to split.
  void Raise(Case& here) {
    const PairwiseProblem limited = splits_.Under(here.conditions);
    for (int i = 0; here.bound < known_ && HasWork() && !budget_.Spent(); ++i) {
      const ModelPrices next = NextPrices(here);
      const double rise = next.value - static_cast<double>(here.bound);
      const bool last = here.split.empty();  // there are no cases within this one
      if (i == (last ? kEvaluationsOfLast : kEvaluations) ||
          rise <= (last ? kRiseOfLast : kRise) * static_cast<double>(here.bound)) {
        return;
      }
      const int64_t before = here.bound;
      const size_t seen = seen_.size();
      if (!Evaluate(next.prices, limited, here)) return;
      // What is forbidden is not enough: nothing meets the conditions, or nearly.
      if (!splits_.Meets(seen_[last_].assignment, here.conditions)) return;
      // The model was right where it has seen that before: prices in units were too near.
      const bool longer = here.bound > before || seen_.size() == seen;
      here.step = std::min(kLongestStep, here.step * (longer ? kLonger * kLonger : 1 / kLonger));
    }
  }

  // As near to the center as makes the model's bound better, and no farther than makes it `known`.
  ModelPrices NextPrices(Case& here) {
    const std::vector<const Seen*> near = NearestTo(here);
    std::vector<const PriceLine*> lines;
    for (const Seen* each : near) lines.push_back(&each->line);
    ModelPrices next;
    next.prices = here.center;
    next.value = static_cast<double>(kForbidden);
    if (lines.empty()) return next;
    const double least = (1 + kRise) * static_cast<double>(here.bound);
    next = InModel(lines, here, here.step);
    for (int i = 0; i < kTries && next.value <= least && here.step < kLongestStep; ++i) {
      ModelPrices farther = InModel(lines, here, here.step * kLonger);
      if (farther.value <= next.value) break;
      next = std::move(farther);
      here.step *= kLonger;
    }
    for (int i = 0; i < kTries && next.value >= static_cast<double>(known_); ++i) {
      ModelPrices nearer = InModel(lines, here, here.step / kLonger);
      if (nearer.value < static_cast<double>(known_)) break;
      next = std::move(nearer);
      here.step /= kLonger;
    }
    Choose(near, next, here);
    return next;
  }

  ModelPrices InModel(const std::vector<const PriceLine*>& lines, const Case& here, double step) {
    ModelPrices found = BestInModel(lines, here.center, step, budget_);
    work_ += found.work;
    return found;
  }

  // Of what meets the conditions, the cheapest at the best prices.
  std::vector<const Seen*> NearestTo(const Case& here) {
    std::vector<std::pair<double, size_t>> values;
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (!splits_.Meets(seen_[i].assignment, here.conditions)) continue;
      values.emplace_back(ValueAt(seen_[i].line, here.center), i);
    }
    work_ += static_cast<int64_t>(seen_.size() * times_.size());
    std::sort(values.begin(), values.end());
    if (values.size() > kMostLines) values.resize(kMostLines);
    std::vector<const Seen*> near;
    for (const auto& [value, i] : values) near.push_back(&seen_[i]);
    return near;
  }

  // False where there is no bound.
  bool Evaluate(const std::vector<double>& at, const PairwiseProblem& limited, Case& here) {
    std::vector<MemoryPrice> prices;
    for (size_t row = 0; row < at.size(); ++row) {
      const auto price = static_cast<int64_t>(std::min(at[row] * kPriceUnits + 0.5, kMostPrice));
      if (price > 0) prices.push_back({times_[row], price});
    }
    work_ += options_.sums;
    absl::optional<PricedBound> found = options_.bound_at(limited, prices);
    if (!found.has_value()) return false;
    if (found->bytes > here.bound) {
      here.bound = found->bytes;
      here.center = at;
      here.prices = std::move(prices);
      here.messages = std::move(found->messages);
    }
    Keep(std::move(found->assignment));
    if (here.step == 0) here.step = FirstStep(at, seen_[last_].line.excess, here.bound);
    return true;
  }

  // From prices at which so much exceeds the limit, one that could make the bound `known` (as
  // Polyak's).
  double FirstStep(const std::vector<double>& at, const std::vector<double>& excess,
                   int64_t bound) const {
    double square = 0;
    for (size_t row = 0; row < at.size(); ++row) {
      if (at[row] > 0 || excess[row] > 0) square += excess[row] * excess[row];
    }
    const double target =
        known_ < kForbidden ? static_cast<double>(known_) : kGuess * static_cast<double>(bound);
    return square > 0 ? (1 + target - static_cast<double>(bound)) / square : 1;
  }

  void Keep(Assignment assignment) {
    const auto known = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& each) {
      return each.assignment == assignment;
    });
    last_ = known - seen_.begin();
    if (known != seen_.end()) return;
    Seen seen = {std::move(assignment), {}};
    const int64_t cost = CostOf(problem_, seen.assignment), limit = problem_.memory.limit;
    const std::map<int64_t, int64_t> loads = LoadsOf(problem_, seen.assignment);
    seen.line.cost = static_cast<double>(cost);
    for (const int64_t time : times_) {
      const auto after = loads.upper_bound(time);
      const int64_t load = after == loads.begin() ? 0 : std::prev(after)->second;
      seen.line.excess.push_back(static_cast<double>(load - limit));
    }
    const bool within = std::all_of(loads.begin(), loads.end(),
                                    [&](const auto& each) { return each.second <= limit; });
    if (within && options_.take && cost < known_) {
      known_ = std::min(known_, options_.take(seen.assignment));
    }
    seen_.push_back(std::move(seen));
  }

  // What differs most, at its price, in the mixture that makes the prices the best; else a factor.
  void Choose(const std::vector<const Seen*>& near, const ModelPrices& next, Case& here) const {
    here.split = MemorySplit();
    if (here.conditions.size() == kMostCasesWithin) return;
    std::vector<std::pair<double, const Assignment*>> mixed;
    for (size_t i = 0; i < near.size(); ++i) {
      if (next.weights[i] < kWeighs) continue;
      mixed.emplace_back(next.weights[i], &near[i]->assignment);
    }
    std::vector<double> before(1, 0.0);  // the sum of the prices before each row
    for (const double price : next.prices) before.push_back(before.back() + price);
    const auto price_of = [&](int64_t begin, int64_t end) {
      return begin < end ? before[RowOf(end)] - before[RowOf(begin)] : 0;
    };
    std::vector<double> prices(problem_.variables.size(), 0);
    for (const MemoryUse& use : problem_.memory.uses) {
      prices[use.variable] += price_of(use.begin, use.end);
    }
    double most = 0;
    for (const int v : options_.variables) {
      const MemorySplit split = {v, -1, 0};
      Consider(split, prices[v], mixed, here, most,
               [&](const Assignment& each) { return splits_.At(split, each); });
    }
    for (const MemoryBuffer& buffer : problem_.memory.buffers) {
      if (!std::binary_search(options_.factors.begin(), options_.factors.end(), buffer.factor)) {
        continue;
      }
      Consider({-1, buffer.factor, 0}, price_of(buffer.begin, buffer.end), mixed, here, most,
               [&](const Assignment& each) { return BytesOf(problem_, buffer, each); });
    }
    if (!here.split.empty()) return;
    for (const int f : options_.factors) {
      const MemorySplit split = {-1, f, 0};
      Consider(split, 1, mixed, here, most,
               [&](const Assignment& each) { return splits_.At(split, each); });
    }
  }

  // Takes the split where what is used differs more than `most`, at that price.
  template <typename Used>
  void Consider(MemorySplit split, double price,
                const std::vector<std::pair<double, const Assignment*>>& mixed, Case& here,
                double& most, const Used& used) const {
    double mean = 0, mean_used = 0, apart = 0;
    for (const auto& [weight, each] : mixed) {
      mean += weight * static_cast<double>(splits_.At(split, *each));
      mean_used += weight * static_cast<double>(used(*each));
    }
    int64_t below = std::numeric_limits<int64_t>::max(), greatest = 0;
    for (const auto& [weight, each] : mixed) {
      const int64_t bytes = splits_.At(split, *each);
      apart += weight * std::abs(static_cast<double>(used(*each)) - mean_used);
      greatest = std::max(greatest, bytes);
      const bool better = below > mean ? bytes < below : bytes > below && bytes <= mean;
      if (better) below = bytes;
    }
    if (below >= greatest || apart * price <= most) return;
    if (here.cells + splits_.CellCount(split) > kMostCaseCells) return;
    most = apart * price;
    here.split = split;
    here.split.bytes = below;
  }

  void List(int number, std::vector<MemoryCase>& list) const {
    const Case& here = cases_[number];
    if (here.lesser < 0) {
      list.push_back({{}, here.prices, here.messages});
      return;
    }
    list.push_back({here.split, {}, {}});
    List(here.lesser, list);
    List(here.greater, list);
  }

  const PairwiseProblem& problem_;
  const CasesOptions& options_;
  const Budget& budget_;
  const MemorySplits splits_;
  const std::vector<int64_t> times_;  // by row
  int64_t known_, work_ = 0;
  int64_t marked_ = 0, work_marked_ = 0;  // the bound some time ago, and what had been done
  std::vector<Seen> seen_;  // the cheapest at some prices, of some case
  size_t last_ = 0;         // of them, found last
  std::vector<Case> cases_;
};

}  // namespace

CasesFound BoundByCases(const PairwiseProblem& problem, const CasesOptions& options,
                        const Budget& budget) {
  return CaseTree(problem, options, budget).Run();
}

}  // namespace yuba
