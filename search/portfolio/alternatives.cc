#include "search/portfolio/alternatives.h"

#include <algorithm>
#include <string>
#include <utility>

#include "search/engines/nothing_fits.h"
#include "search/solve/pairwise.h"

namespace yuba::search {
namespace {

constexpr double kLeastTime = 1e-6;  // seconds: too little for anything but a search's first plan

bool IsBetter(const absl::StatusOr<PlannedGraph>& found, const absl::StatusOr<PlannedGraph>& best) {
  if (found.ok() && best.ok()) {
    const int64_t bytes = found->plan.value(), least = best->plan.value();
    return bytes < least || (bytes == least && found->plan.lower_bound > best->plan.lower_bound);
  }
  if (found.ok() || best.ok()) return found.ok();
  return SmallestPeak(found.status()) < SmallestPeak(best.status());
}

// What no plan of those that this search was asked for moves fewer bytes than; 0: nothing is known.
int64_t AskedBoundOf(const absl::StatusOr<PlannedGraph>& found) {
  if (found.ok()) return found->plan.asked_bound;
  return absl::IsInvalidArgument(found.status()) ? kForbidden : BoundOf(found.status());
}

std::string StoppedBy(const absl::StatusOr<PlannedGraph>& found) {
  if (found.ok()) return found->plan.stopped;
  if (absl::IsDeadlineExceeded(found.status())) return kTimeLimit;
  return absl::IsCancelled(found.status()) ? kInterrupt : "";
}

}  // namespace

SearchOptions InTimeLeft(SearchOptions options, const Budget& budget) {
  if (options.time_limit > 0) {
    options.time_limit = std::max(kLeastTime, options.time_limit - budget.Elapsed());
  }
  return options;
}

bool IsOver(const absl::StatusOr<PlannedGraph>& best, const Budget& budget) {
  const absl::Status& status = best.status();
  if (!best.ok() && !absl::IsFailedPrecondition(status) && !absl::IsNotFound(status)) return true;
  return (best.ok() && (best->plan.value() == 0 || !best->plan.stopped.empty())) ||
         budget.ShouldStop();
}

void TakeBetter(absl::StatusOr<PlannedGraph> found, absl::StatusOr<PlannedGraph>& best) {
  const std::string stopped = StoppedBy(found);
  const int64_t bound = std::min(AskedBoundOf(found), AskedBoundOf(best));
  if (IsBetter(found, best)) best = std::move(found);
  if (!best.ok()) {
    best = WithBound(best.status(), bound);
    return;
  }
  best->plan.asked_bound = bound;
  if (best->plan.stopped.empty()) best->plan.stopped = stopped;
}

void LeaveUnsearched(absl::StatusOr<PlannedGraph>& best) {
  if (best.ok()) {
    best->plan.asked_bound = 0;
  } else {
    best = WithBound(best.status(), 0);
  }
}

void MarkStopped(const Budget& budget, absl::StatusOr<PlannedGraph>& best) {
  if (best.ok() && budget.end() == Budget::End::kTime) best->plan.stopped = kTimeLimit;
  if (best.ok() && budget.end() == Budget::End::kAsked) best->plan.stopped = kInterrupt;
}

}  // namespace yuba::search
