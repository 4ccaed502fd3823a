// What a search may take: time, and threads. Solvers ask ShouldStop between their steps; once it
// says yes they return the best that they have by then. Safe for several threads.
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

  // Whether to stop; once true it stays true. A search that was told so counts as cut short
  // (end()), so ask only where there is still work to do.
  bool ShouldStop() const;

  enum class End { kNone, kTime, kAsked };
  // Why a search was told to stop, if it was.
  End end() const { return end_.load(std::memory_order_relaxed); }

  bool limited() const { return seconds_ > 0; }
  double Elapsed() const;                                                 // seconds
  double Passed() const { return limited() ? Elapsed() / seconds_ : 0; }  // the share of the time
  double Left() const { return seconds_ - Elapsed(); }  // seconds; only where limited
  int threads() const { return threads_; }

  // A little more time, to make a plan of what a stopped search has: a tenth of the time limit and
  // 0.15 s, or 1 s where somebody asked for the end; less what has passed since then, but at least
  // half of it.
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
