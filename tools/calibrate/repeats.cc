#include "tools/calibrate/repeats.h"

#include <algorithm>

#include "opsemantics/base/check.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {

Timing TimingOf(std::vector<double> seconds) {
  YUBA_CHECK(seconds.size() >= 2) << seconds.size() << " repeats";
  std::sort(seconds.begin(), seconds.end());
  return {seconds[0], seconds[seconds.size() - 2] / seconds[0] - 1};
}

absl::StatusOr<Timing> TimeRepeats(const std::function<absl::Status()>& run) {
  constexpr size_t kLeast = 5, kMost = 15;
  constexpr double kSeconds = 0.1;
  YUBA_RETURN_IF_ERROR(run());
  std::vector<double> seconds;
  const Clock::time_point start = Clock::now();
  while (seconds.size() < kLeast || (seconds.size() < kMost && SecondsSince(start) < kSeconds)) {
    const Clock::time_point begin = Clock::now();
    YUBA_RETURN_IF_ERROR(run());
    seconds.push_back(SecondsSince(begin));
  }
  return TimingOf(std::move(seconds));
}

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace yuba::tools
