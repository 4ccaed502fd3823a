// The line that a run prints for each step.
#ifndef YUBA_TOOLS_RUN_PROGRESS_H_
#define YUBA_TOOLS_RUN_PROGRESS_H_

#include <cstdint>
#include <string>

#include "tools/run/means.h"

namespace yuba::tools {

struct StepReport {
  std::string name;  // "step 12"
  Numbers numbers;
  double seconds = 0;               // that the step took
  int64_t examples = 0;             // that it took; 0: not known
  int64_t moved = 0;                // bytes between devices
  int64_t memory = 0;               // bytes of the device that has most
  bool timed = false;               // the two shares are known
  double copying = 0, waiting = 0;  // shares of the devices' time
  double left = 0;                  // seconds that the rest of the run will take; 0: this was all
};

// step 12  loss 2.3015  201.2 ms  4.97 steps/s  59.6 examples/s  moved 12.3 MB  memory 35.0 MB  ...
std::string LineOf(const StepReport& report);

// "  loss 2.3015  lr 0.001": what lines say of numbers. Weights of losses are not named; where one
// is 0 its loss is not either, but that no label counts.
std::string NumbersText(const Numbers& numbers);

// "2.3015", "nan".
std::string NumberText(double number);

// "0:01:20"; hours, minutes and seconds.
std::string Duration(double seconds);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_PROGRESS_H_
