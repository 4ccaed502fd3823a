#include "tools/calibrate/repeats.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>
#include <string>

#include "opsemantics/base/check.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {

Timing TimingOf(const std::vector<double>& rounds) {
  YUBA_CHECK(rounds.size() >= 3) << rounds.size() << " rounds";
  const double median = MedianOf(rounds);
  std::vector<double> off;
  for (const double seconds : rounds) {
    off.push_back(std::max(seconds / median, median / seconds) - 1);
  }
  std::sort(off.begin(), off.end());
  return {median, off[off.size() - 2]};
}

double WallSeconds() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double ProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

absl::StatusOr<double> TimeRound(const std::function<absl::Status()>& run, double (*clock)()) {
  constexpr size_t kLeast = 3, kMost = 9;
  constexpr double kSeconds = 0.02;
  std::vector<double> seconds;
  const Clock::time_point start = Clock::now();
  while (seconds.size() < kLeast || (seconds.size() < kMost && SecondsSince(start) < kSeconds)) {
    const double begin = clock();
    YUBA_RETURN_IF_ERROR(run());
    seconds.push_back(clock() - begin);
  }
  return MedianOf(std::move(seconds));
}

// The first line of /proc/stat: "cpu user nice system idle iowait irq softirq steal ...", in ticks.
OthersShare::Reading OthersShare::Now() {
  Reading reading;
  const absl::StatusOr<std::string> text = ReadFile("/proc/stat");
  if (!text.ok()) return reading;
  std::istringstream line(text->substr(0, text->find('\n')));
  std::string name;
  line >> name;
  constexpr int kIdle = 3, kWaiting = 4, kFields = 8;  // guests are counted as users too
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  double ticks = 0;
  for (int field = 0; field < kFields && line >> ticks; ++field) {
    reading.all += tick * ticks;
    if (field == kIdle || field == kWaiting) reading.idle += tick * ticks;
  }
  reading.own = ProcessorSeconds();
  return reading;
}

double OthersShare::Share() const {
  const Reading now = Now();
  const double all = now.all - start_.all;
  if (all <= 0) return 0;
  const double busy = all - (now.idle - start_.idle);
  return std::max(0.0, busy - (now.own - start_.own)) / all;
}

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace yuba::tools
