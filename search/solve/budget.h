// What a search may take: time, and threads. Solvers ask at coarse steps whether they are to stop,
// and then give the best they have.
#ifndef YUBA_SEARCH_SOLVE_BUDGET_H_
#define YUBA_SEARCH_SOLVE_BUDGET_H_

#include <atomic>
#include <chrono>
#include <functional>

namespace yuba::search {

class Budget {
 public:
  // Whether somebody asks for the end; called from several threads.
  using Asked = std::function<bool()>;

  Budget() = default;  // no end, one thread
  // The time runs from now; 0 seconds: no limit. `asked` may be empty.
  Budget(double seconds, int threads, Asked asked = nullptr)
      : seconds_(seconds), threads_(threads), asked_(std::move(asked)) {}

  static const Budget& Unlimited();

  // Whether to stop; once true it stays true. A search that was told so counts as stopped: ask only
  // where work is left.
  bool ShouldStop() const;

  enum class End { kNone, kTime, kAsked };
  // Why a search was told to stop, if it was.
  End end() const { return end_.load(std::memory_order_relaxed); }

  bool limited() const { return seconds_ > 0; }
  double Elapsed() const;                                                 // seconds
  double Passed() const { return limited() ? Elapsed() / seconds_ : 0; }  // the share of the time
  int threads() const { return threads_; }

  // A little more, to make a plan of what a search that was stopped has left: the less, the longer
  // ago that was, but half of it at least.
  Budget Overtime() const;

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const double seconds_ = 0;
  const int threads_ = 1;
  const Asked asked_;
  mutable std::atomic<End> end_{End::kNone};
  mutable std::atomic<double> ended_{0};  // seconds after the start
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_BUDGET_H_
