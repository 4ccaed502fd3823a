// Seconds that have passed: for progress, time limits and traces, never for a decision that a test
// asserts.
#ifndef YUBA_OPSEMANTICS_BASE_CLOCK_H_
#define YUBA_OPSEMANTICS_BASE_CLOCK_H_

#include <chrono>

namespace yuba {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_CLOCK_H_
