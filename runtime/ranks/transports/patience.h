// How long to sleep between two looks at what must be asked for. Short looks first, as most
// messages come soon; then sleeps, as the rank that is waited for may need this processor; then
// longer ones.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORTS_PATIENCE_H_
#define YUBA_RUNTIME_RANKS_TRANSPORTS_PATIENCE_H_

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace yuba::runtime {

class Patience {
 public:
  // Of what `bytes` are waited for: while they move, each look moves some of them.
  explicit Patience(int64_t bytes) : move_(bytes * kNanosecondsPerByte) {}

  void Rest() {
    const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - start_;
    if (waited < kSpin) return;
    if (waited < kYield + move_ / 4) {
      sched_yield();
      return;
    }
    const std::chrono::nanoseconds late = waited - kYield - move_;
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(late / 16, kShort, kLong));
  }

 private:
  static constexpr std::chrono::nanoseconds kNanosecondsPerByte{4};
  static constexpr std::chrono::nanoseconds kSpin = std::chrono::microseconds(5);
  static constexpr std::chrono::nanoseconds kYield = std::chrono::microseconds(100);
  static constexpr std::chrono::nanoseconds kShort = std::chrono::microseconds(20);
  static constexpr std::chrono::nanoseconds kLong = std::chrono::milliseconds(1);

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds move_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORTS_PATIENCE_H_
