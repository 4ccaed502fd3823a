#include "search/rows/memory_solve.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/start_thread.h"
#include "search/rows/memory_core.h"
#include "search/rows/memory_dual.h"
#include "search/rows/memory_search.h"
#include "search/rows/start_ranking.h"

namespace yuba::search {
namespace {

constexpr int kRoundsBetweenLooks = 16;  // of a search, at whether to stop
constexpr double kGuess = 1.05;          // times the bound: the target of the dual at most

class Solver {
 public:
  Solver(const MemoryCore& core, const Budget& budget, const MemorySolveOptions& options)
      : core_(core), budget_(budget), options_(options), dual_(core) {}

  void Run() {
    Raise(1);
    std::vector<std::thread> others;
    for (int t = 1; t < budget_.threads(); ++t) {
      if (!StartThread(others, [this, t] { Search(t); })) break;  // those that there are will do
    }
    Search(0);
    for (std::thread& other : others) other.join();
  }

  int64_t bound() const { return bound_; }
  int64_t best() const { return best_; }
  const Assignment& assignment() const { return assignment_; }

 private:
  bool Ends() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (best_ <= bound_) return true;
    }
    return budget_.ShouldStop();
  }

  // Early on the best cost is far above the least one, and steps towards it are too long.
  double Target() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::min(static_cast<double>(best_), kGuess * static_cast<double>(bound_) + 1);
  }

  // At least one step of the dual.
  void Raise(int steps) {
    for (int step = 0; step < steps && (step == 0 || !Ends()); ++step) {
      if (dual_.stuck()) dual_.Restart(random_.Below(std::max(1, core_.size())));
      dual_.Step(Target());
      std::lock_guard<std::mutex> lock(mutex_);
      bound_ = std::max(bound_, dual_.bound());
      prices_ = dual_.prices();
      decoded_ = dual_.decoded();
    }
  }

  // Keeps what the search has if it is the best of all.
  void Keep(const MemorySearch& search) {
    if (!search.Feasible() || search.cost() >= best_) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (search.cost() >= best_) return;
    best_ = search.cost();
    assignment_ = search.assignment();
  }

  void Rounds(MemorySearch& search, int64_t rounds, double left) {
    for (int64_t round = 0; round < rounds; ++round) {
      if (round % kRoundsBetweenLooks == 0 && Ends()) return;
      search.Round(left);
      Keep(search);
    }
  }

  // A new search from what the messages prefer now. Returns how many rounds it was given.
  int64_t Begin(MemorySearch& search) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      search.SetPrices(prices_);
      search.Start(decoded_);
    }
    Keep(search);
    int64_t rounds = 0, more = 1 + static_cast<int64_t>(options_.rounds * core_.size());
    for (size_t age = 0;; ++age) {
      Rounds(search, more, 0);
      rounds += more;
      more = rounds;
      if (Ends()) return rounds;
      std::lock_guard<std::mutex> lock(mutex_);
      if (!ranking_.GoesOn(age, search.Merit())) return rounds;
    }
  }

  void GoOn(MemorySearch& search, int64_t rounds) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      search.SetPrices(prices_);
      if (best_ < kForbidden && search.Merit() > options_.behind * static_cast<double>(best_)) {
        search.Start(assignment_);
      }
    }
    Rounds(search, rounds, std::max(0.0, 1 - budget_.Passed()));
  }

  // New searches and the best one get as many rounds. While another thread raises the bound, there
  // is nothing new to start from.
  void Search(int number) {
    MemorySearch searches[] = {{core_, 2 * static_cast<uint64_t>(number) + 1},
                               {core_, 2 * static_cast<uint64_t>(number) + 2}};
    int best = 0;
    int64_t rounds = 0;  // of the last start
    do {
      std::unique_lock<std::mutex> raising(raising_, std::try_to_lock);
      if (raising.owns_lock()) {
        Raise(options_.steps);
        raising.unlock();
        const bool first = rounds == 0;
        MemorySearch& begun = searches[1 - best];
        rounds = Begin(begun);
        if (first || begun.Merit() < searches[best].Merit()) best = 1 - best;
      }
      GoOn(searches[best], std::max<int64_t>(rounds, kRoundsBetweenLooks));
    } while (!Ends());
  }

  const MemoryCore& core_;
  const Budget& budget_;
  const MemorySolveOptions options_;
  std::mutex raising_;  // guards dual_ and random_
  MemoryDual dual_;
  Random random_;     // of restarts of dual_
  std::mutex mutex_;  // guards all that follows
  StartRanking ranking_;
  int64_t bound_ = 0;
  std::atomic<int64_t> best_{kForbidden};  // may be read without it
  std::vector<double> prices_;
  Assignment decoded_, assignment_;
};

}  // namespace

absl::StatusOr<MemorySolution> SolveWithMemory(const PairwiseProblem& problem, const Budget& budget,
                                               const MemorySolveOptions& options) {
  const absl::optional<MemoryCore> core = MakeCore(problem);
  if (!core.has_value()) {
    return absl::FailedPreconditionError("every choice has a forbidden cost: there is no solution");
  }
  if (core->least_peak > problem.memory.limit) {
    return absl::FailedPreconditionError(
        absl::StrCat("no choice is within the limit: at some time the smallest usages add up to ",
                     core->least_peak, ", the limit is ", problem.memory.limit));
  }
  Solver solver(*core, budget, options);
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
