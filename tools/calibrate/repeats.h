// Times of what runs again and again, and how much they differ.
#ifndef YUBA_TOOLS_CALIBRATE_REPEATS_H_
#define YUBA_TOOLS_CALIBRATE_REPEATS_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"

namespace yuba::tools {

struct Timing {
  double seconds = 0;  // of the fastest repeat: what others do on the machine only adds to it
  double spread = 0;   // how much longer the others took, the longest one left out: 0.1 is 10 %
};

// Of the times of at least two repeats.
Timing TimingOf(std::vector<double> seconds);

// Seconds that have passed since some moment, or that processors worked for this process.
double WallSeconds();
double ProcessorSeconds();

// Runs `run` once to warm up and then as often as a tenth of a second has room for, from 5 to 15
// times, each timed by `clock`. The first error ends it.
absl::StatusOr<Timing> TimeRepeats(const std::function<absl::Status()>& run,
                                   double (*clock)() = WallSeconds);

// A calibration with a larger median of spreads is of no use.
inline constexpr double kMostSpread = 0.2;

// The median; 0 of none.
double MedianOf(std::vector<double> values);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_REPEATS_H_
