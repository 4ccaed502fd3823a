// Exchanges between devices, two-sided: an exchange is done on a device when its own boxes are in
// and the devices that read it have read. Recognised collectives come as exchange plans of their
// own (exchange_plan.h), so that a back end may map them to a library.
#ifndef YUBA_RUNTIME_COMMUNICATOR_H_
#define YUBA_RUNTIME_COMMUNICATOR_H_

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exchange_plan.h"

namespace yuba::runtime {

enum class Progress {
  kBlocked,   // waits for another device; nothing was done
  kAdvanced,  // one step was made
  kDone       // the last step was made
};

// Payload bytes between different devices, counted where they are copied.
struct Traffic {
  std::vector<int64_t> received;       // [place]
  std::vector<int64_t> received_from;  // [device]
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  // Makes the next step of the exchange that `device` has come to: arrive, copy, leave. Never
  // waits. Each device is advanced by one thread at a time; all come to the same exchanges in one
  // order.
  virtual absl::StatusOr<Progress> Advance(int device, int instruction,
                                           const ExchangePlan& plan) = 0;

  // Returns when something has happened that may let a blocked `device` go on, or at the deadline.
  virtual void Wait(int device, const ExchangePlan& plan,
                    std::chrono::steady_clock::time_point deadline) = 0;

  // The device that `device` waits for in `plan`, or -1.
  virtual int WaitsFor(int device, const ExchangePlan& plan) const = 0;

  // Ends all waits, now and later: the run has failed.
  virtual void Abort() = 0;
  virtual bool aborted() const = 0;

  // Forgets a failed run. No device may be inside.
  virtual void Reset() = 0;

  virtual const Traffic& traffic(int device) const = 0;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_COMMUNICATOR_H_
