// Times of what runs again and again, and how much they differ.
//
// What is timed comes in rounds: each round times everything that is measured together, one after
// the other, and gives each its median of some repeats. A thread that is woken late makes single
// repeats longer, as in programs; medians of rounds agree unless others use the machine.
#ifndef YUBA_TOOLS_CALIBRATE_REPEATS_H_
#define YUBA_TOOLS_CALIBRATE_REPEATS_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"

namespace yuba::tools {

struct Timing {
  double seconds = 0;  // the median of the rounds
  double spread = 0;   // how far rounds are from it, the farthest left out: 0.1 is 10 %
};

// Of the medians of at least three rounds.
Timing TimingOf(const std::vector<double>& rounds);

// Seconds that have passed since some moment, or that processors worked for this process.
double WallSeconds();
double ProcessorSeconds();

// The median of as many runs as a fiftieth of a second has room for, from 3 to 9, each timed by
// `clock`. The first error ends it.
absl::StatusOr<double> TimeRound(const std::function<absl::Status()>& run, double (*clock)());

// Rounds of a calibration.
inline constexpr int kRounds = 5;

// A calibration with a larger median of spreads is of no use.
inline constexpr double kMostSpread = 0.2;

// What of the machine's processors others use: their time since this was made, as a share of all
// processors' time. Where the system does not tell it is 0.
class OthersShare {
 public:
  OthersShare() : start_(Now()) {}
  double Share() const;

 private:
  struct Reading {
    double all = 0, idle = 0;  // seconds of all processors together
    double own = 0;            // of this process
  };
  static Reading Now();
  const Reading start_;
};

// A calibration beside which others use more is of no use either: kernels and libraries count on
// all processors, and who shares one with others waits for both.
inline constexpr double kMostOthers = 0.2;

// The median; 0 of none.
double MedianOf(std::vector<double> values);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_REPEATS_H_
