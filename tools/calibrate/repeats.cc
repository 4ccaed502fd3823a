#include "tools/calibrate/repeats.h"

#include <time.h>

#include <algorithm>
#include <chrono>

#include "opsemantics/base/check.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {

Timing TimingOf(std::vector<double> seconds) {
  YUBA_CHECK(seconds.size() >= 2) << seconds.size() << " repeats";
  std::sort(seconds.begin(), seconds.end());
  return {seconds[0], seconds[seconds.size() - 2] / seconds[0] - 1};
}

double WallSeconds() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double ProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

absl::StatusOr<Timing> TimeRepeats(const std::function<absl::Status()>& run, double (*clock)()) {
  constexpr size_t kLeast = 5, kMost = 15;
  constexpr double kSeconds = 0.1;
  YUBA_RETURN_IF_ERROR(run());
  std::vector<double> seconds;
  const Clock::time_point start = Clock::now();
  while (seconds.size() < kLeast || (seconds.size() < kMost && SecondsSince(start) < kSeconds)) {
    const double begin = clock();
    YUBA_RETURN_IF_ERROR(run());
    seconds.push_back(clock() - begin);
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
