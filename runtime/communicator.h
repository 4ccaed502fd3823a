// The second of the two interfaces of a back end: exchanges between devices. An exchange is
// two-sided: done on a device when its own boxes are in and the devices that read it have read.
// What is copied is an ExchangePlan (exchange_plan.h); recognised collectives are such plans too,
// so that a back end may give them to a library.
//
// Advance never waits for another device and Wait has a deadline, so one thread can run all devices
// in turn, and a peer that never comes cannot hang the run. Different devices may be advanced by
// different threads at once; one device only by one thread at a time.
//
// Example: device 0 reads from device 1. Advance(0) arrives: kAdvanced. Advance(0) again: kBlocked
// until device 1 has arrived at the same exchange, then it copies: kAdvanced. Nobody reads device
// 0, so the third Advance(0) leaves: kDone. Device 1 is kBlocked at its third until 0 has copied.
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
  kBlocked,   // another device has to go first; nothing was done
  kAdvanced,  // one step was made, and more are to come
  kDone       // the last step was made: the device goes on to its next instruction
};

// Payload bytes that one device has received from other devices since the start: of each exchange
// in which it has copied, what the plan says (DeviceExchange::received). Copies within a device
// count nothing.
struct Traffic {
  std::vector<int64_t> received;       // [instruction]
  std::vector<int64_t> received_from;  // [device]
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  // Makes the next step of the exchange that `device` has come to: arrive, copy, leave. Never
  // waits for another device. All devices come to the same exchanges in the same order, and `plan`
  // is always the same one for an instruction. Cancelled after Abort; other errors are failed
  // copies.
  virtual absl::StatusOr<Progress> Advance(int device, int instruction,
                                           const ExchangePlan& plan) = 0;

  // Blocks until `device`, whose last Advance was kBlocked, may go on, until Abort, or until the
  // deadline. Which of them it was, aborted() and WaitsFor say.
  virtual void Wait(int device, const ExchangePlan& plan,
                    std::chrono::steady_clock::time_point deadline) = 0;

  // The device that `device` waits for in `plan`, or -1 where it can go on.
  virtual int WaitsFor(int device, const ExchangePlan& plan) const = 0;

  // Ends all waits, now and later, because the run has failed. From any thread.
  virtual void Abort() = 0;
  virtual bool aborted() const = 0;

  // Makes the communicator usable again after Abort. No thread may be inside another call.
  virtual void Reset() = 0;

  // Valid between steps.
  virtual const Traffic& traffic(int device) const = 0;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_COMMUNICATOR_H_
