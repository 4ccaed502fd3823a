#include "search/memory_solve.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "search/memory_core.h"
#include "search/memory_dual.h"
#include "search/memory_search.h"

namespace yuba {
namespace {

constexpr double kDualShare = 0.35;   // of the time, where one thread does both
constexpr double kHeat = 2e-4;        // of the cost, at the beginning
constexpr int kRoundsBetweenLooks = 16;

class Solver {
 public:
  Solver(const MemoryCore& core, double seconds, int threads)
      : core_(core), threads_(threads), start_(Clock::now()), seconds_(seconds) {}

  void Run() {
    MemoryDual dual(core_);
    std::vector<std::thread> others;
    for (int t = 1; t < threads_; ++t) others.emplace_back([this, t] { Search(t); });
    Raise(dual);
    Search(0);
    for (std::thread& other : others) other.join();
  }

  int64_t bound() const { return bound_; }
  int64_t best() const { return best_; }
  const Assignment& assignment() const { return assignment_; }

 private:
  using Clock = std::chrono::steady_clock;

  // The share of the time that has passed.
  double Passed() const {
    return std::chrono::duration<double>(Clock::now() - start_).count() / seconds_;
  }

  bool Done() {
    std::lock_guard<std::mutex> lock(mutex_);
    return best_ <= bound_;
  }

  void Raise(MemoryDual& dual) {
    const double share = threads_ > 1 ? 0.9 : kDualShare;
    for (bool first = true; first || (!dual.stuck() && Passed() < share && !Done()); first = false) {
      double target;
      {
        std::lock_guard<std::mutex> lock(mutex_);
        target = best_ < kForbidden ? static_cast<double>(best_) : 1.05 * static_cast<double>(bound_) + 1;
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

  // Takes what is new from the others: prices, and their best where it is better. The first time, and
  // while nothing is within the limit, also what the dual prefers.
  void Look(MemorySearch& search, int64_t& version) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (version_ >= version + 50 || version == 0) {
      const bool fresh = version == 0;
      version = version_;
      search.SetPrices(prices_);
      if (fresh) search.Start(decoded_);
    }
    if (search.Feasible() && search.cost() < best_) {
      best_ = search.cost();
      assignment_ = search.assignment();
    }
  }

  void TryDecoded(MemorySearch& scratch) {
    Assignment decoded;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      decoded = decoded_;
    }
    scratch.Start(decoded);
    std::lock_guard<std::mutex> lock(mutex_);
    if (scratch.Feasible() && scratch.cost() < best_) {
      best_ = scratch.cost();
      assignment_ = decoded;
    }
  }

  bool Ready() {
    std::lock_guard<std::mutex> lock(mutex_);
    return ready_;
  }

  void Search(int number) {
    while (!Ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    MemorySearch search(core_, 1 + number), scratch(core_, 0);
    int64_t version = 0, tried = 0;
    for (double passed = Passed(); passed < 1 && !Done(); passed = Passed()) {
      Look(search, version);
      if (version != tried) {
        tried = version;
        TryDecoded(scratch);
        std::lock_guard<std::mutex> lock(mutex_);
        const bool better = best_ < kForbidden && (!search.Feasible() || best_ < 0.99 * search.cost());
        if (better) search.Start(assignment_);
      }
      for (int i = 0; i < kRoundsBetweenLooks; ++i) {
        search.Round(search.Feasible() ? kHeat * (1 - passed) * (1 - passed) : 0);
      }
    }
    Look(search, version);
  }

  const MemoryCore& core_;
  const int threads_;
  const Clock::time_point start_;
  const double seconds_;
  std::mutex mutex_;  // of what follows
  int64_t bound_ = 0, best_ = kForbidden, version_ = 0;
  bool ready_ = false;
  std::vector<double> prices_;
  Assignment decoded_, assignment_;
};

}  // namespace

absl::StatusOr<MemorySolution> SolveWithMemory(const PairwiseProblem& problem,
                                               const MemorySolveOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const absl::optional<MemoryCore> core = MakeCore(problem);
  if (!core.has_value()) {
    return absl::FailedPreconditionError("every choice has a forbidden cost: there is no solution");
  }
  if (core->least_peak > problem.memory.limit) {
    return absl::FailedPreconditionError(
        absl::StrCat("no choice is within the limit: at some time the smallest usages add up to ",
                     core->least_peak, ", the limit is ", problem.memory.limit));
  }
  const double reduced = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Solver solver(*core, std::max(0.01, options.seconds - reduced), options.threads);
  solver.Run();
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

}  // namespace yuba
