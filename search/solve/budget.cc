#include "search/solve/budget.h"

#include <algorithm>

#include "opsemantics/base/clock.h"

namespace yuba::search {
namespace {

constexpr double kOvertime = 0.1;        // of the time limit, ...
constexpr double kLeastOvertime = 0.15;  // ... and seconds besides
constexpr double kOvertimeAsked = 1;     // seconds, where somebody asked for the end and waits
constexpr double kLeastShare = 0.5;      // of the overtime, for searches that begin late in it

}  // namespace

const Budget& Budget::Unlimited() {
  static const Budget& unlimited = *new Budget;
  return unlimited;
}

double Budget::Elapsed() const { return SecondsSince(start_); }

bool Budget::ShouldStop() const {
  if (end() != End::kNone) return true;
  End end = End::kNone;
  if (asked_ && asked_()) end = End::kAsked;
  if (end == End::kNone && limited() && Elapsed() >= seconds_) end = End::kTime;
  if (end == End::kNone) return false;
  End none = End::kNone;
  if (end_.compare_exchange_strong(none, end)) ended_ = Elapsed();
  return true;
}

Budget Budget::Overtime() const {
  const double all = end() == End::kAsked ? kOvertimeAsked : kOvertime * seconds_ + kLeastOvertime;
  const double ended = ended_;  // seconds after the start; 0: not yet, or just now
  const double used = ended > 0 ? Elapsed() - ended : 0;
  return Budget(std::max(all - used, all * kLeastShare), threads_);
}

}  // namespace yuba::search
