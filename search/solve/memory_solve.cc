#include "search/solve/memory_solve.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "search/solve/memory_core.h"
#include "search/solve/memory_dual.h"
#include "search/solve/memory_search.h"

namespace yuba::search {
namespace {

constexpr double kDualShare = 0.35;       // of the time, for the bound, where one thread does both
constexpr double kLongDualShare = 0.9;    // of the time, where a thread does nothing else
constexpr double kHeat = 2e-4;            // of the cost, at the beginning
constexpr int kRoundsBetweenLooks = 16;   // of a search, at what the others have
constexpr int kSweepsBetweenPrices = 50;  // of the dual, before a search takes its new prices
constexpr double kRestart = 1.01;         // times the bound: a search begins again above that
constexpr double kBehind = 1.005;         // times the best cost: a search catches up above that
constexpr int kLooksBeforeCatchUp = 200;

class Solver {
 public:
  Solver(const MemoryCore& core, const Budget& budget)
      : core_(core), budget_(budget), begun_(budget.Passed()) {}

  void Run() {
    MemoryDual dual(core_);
    std::vector<std::thread> others;
    try {
      for (int t = 1; t < budget_.threads(); ++t) others.emplace_back([this, t] { Search(t); });
    } catch (const std::system_error&) {  // the system gives no more: those that there are do
    }
    Raise(dual);
    Search(0);
    for (std::thread& other : others) other.join();
  }

  int64_t bound() const { return bound_; }
  int64_t best() const { return best_; }
  const Assignment& assignment() const { return assignment_; }

 private:
  // What a search has seen of the dual.
  struct LastSeen {
    int64_t version = -kSweepsBetweenPrices;  // of the prices that it has
    int64_t bound = 0;                        // when it last began
    bool started = false;
    int looks = 0;  // since it last began
  };

  bool Done() {
    std::lock_guard<std::mutex> lock(mutex_);
    return best_ <= bound_;
  }

  void Raise(MemoryDual& dual) {
    const double share = budget_.threads() > 1 ? kLongDualShare : kDualShare;
    const double end = begun_ + share * (1 - begun_);
    for (bool first = true;
         first || (!dual.stuck() && budget_.Passed() < end && !Done() && !budget_.ShouldStop());
         first = false) {
      double target;
      {
        std::lock_guard<std::mutex> lock(mutex_);
        target = best_ < kForbidden ? static_cast<double>(best_)
                                    : 1.05 * static_cast<double>(bound_) + 1;
      }
      dual.Step(target);
      std::lock_guard<std::mutex> lock(mutex_);
      bound_ = std::max(bound_, dual.bound());
      prices_ = dual.prices();
      decoded_ = dual.decoded();
      ++version_;
      if (first) ready_ = true;
    }
  }

  // Records what the search has if it is the best of all, and gives it new prices. Where the bound
  // has risen by kRestart since the search began, it begins again from what the dual prefers now.
  void Look(MemorySearch& search, LastSeen& watch) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (search.Feasible() && search.cost() < best_) {
      best_ = search.cost();
      assignment_ = search.assignment();
    }
    if (version_ < watch.version + kSweepsBetweenPrices) return;
    watch.version = version_;
    search.SetPrices(prices_);
    if (!watch.started ||
        static_cast<double>(bound_) > kRestart * static_cast<double>(watch.bound)) {
      watch = {version_, bound_, true, 0};
      search.Start(decoded_);
    }
  }

  // A search that falls behind, or finds nothing within the limit, goes on from the best.
  void CatchUp(MemorySearch& search, LastSeen& watch) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++watch.looks;
    if (best_ == kForbidden || watch.looks % kLooksBeforeCatchUp != 0) return;
    if (!search.Feasible() ||
        static_cast<double>(search.cost()) > kBehind * static_cast<double>(best_)) {
      search.Start(assignment_);
    }
  }

  bool Ready() {
    std::lock_guard<std::mutex> lock(mutex_);
    return ready_;
  }

  void Search(int number) {
    while (!Ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    MemorySearch search(core_, 1 + number);
    LastSeen watch;
    while (!Done() && !budget_.ShouldStop()) {
      const double left = std::max(0.0, 1 - budget_.Passed());
      Look(search, watch);
      for (int i = 0; i < kRoundsBetweenLooks; ++i) {
        search.Round(search.Feasible() ? kHeat * left * left : 0);
      }
      CatchUp(search, watch);
    }
    Look(search, watch);
  }

  const MemoryCore& core_;
  const Budget& budget_;
  const double begun_;  // the share of the time that had passed before this began
  std::mutex mutex_;    // guards all that follows
  int64_t bound_ = 0, best_ = kForbidden, version_ = 0;
  bool ready_ = false;
  std::vector<double> prices_;
  Assignment decoded_, assignment_;
};

}  // namespace

absl::StatusOr<MemorySolution> SolveWithMemory(const PairwiseProblem& problem,
                                               const Budget& budget) {
  const absl::optional<MemoryCore> core = MakeCore(problem);
  if (!core.has_value()) {
    return absl::FailedPreconditionError("every choice has a forbidden cost: there is no solution");
  }
  if (core->least_peak > problem.memory.limit) {
    return absl::FailedPreconditionError(
        absl::StrCat("no choice is within the limit: at some time the smallest usages add up to ",
                     core->least_peak, ", the limit is ", problem.memory.limit));
  }
  Solver solver(*core, budget);
  solver.Run();
  if (solver.best() >= kForbidden && budget.end() == Budget::End::kAsked) {
    return absl::CancelledError(absl::StrCat(
        "interrupted before anything within the limit was found (bound ", solver.bound(), ")"));
  }
  if (solver.best() >= kForbidden) {
    return absl::FailedPreconditionError(absl::StrCat(
        "nothing within the limit was found in time; a longer --time-limit may find it (bound ",
        solver.bound(), ")"));
  }
  MemorySolution solution;
  solution.assignment = core->Expand(solver.assignment());
  solution.cost = CostOf(problem, solution.assignment);
  solution.peak = PeakOf(problem, solution.assignment);
  solution.bound = solver.bound();
  YUBA_CHECK(solution.cost == solver.best() && solution.peak <= problem.memory.limit);
  YUBA_CHECK(solution.bound <= solution.cost);
  return solution;
}

}  // namespace yuba::search
