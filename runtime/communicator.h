// The second of the two interfaces of a back end: exchanges between devices. An exchange is
// two-sided: done on a device when its own boxes are in and the devices that read it have read.
// What is copied is an ExchangePlan (exchange_plan.h); recognised collectives are such plans too,
// so that a back end may give them to a library.
//
// Advance never waits for another device, so one thread can run all devices in turn, and Wait ends
// with Abort, so that a peer that never comes cannot hang the run. Different devices may be
// advanced by different threads at once; one device only by one thread at a time.
//
// Example: device 0 reads from device 1. Advance(0) arrives: kAdvanced. Advance(0) again: kBlocked
// until device 1 has arrived at the same exchange, then it copies: kAdvanced. Nobody reads device
// 0, so the third Advance(0) leaves: kDone. Device 1 is kBlocked at its third until 0 has copied.
#ifndef YUBA_RUNTIME_COMMUNICATOR_H_
#define YUBA_RUNTIME_COMMUNICATOR_H_

#include <cstdint>
#include <string>
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

  explicit Traffic(int devices = 0, int instructions = 0)
      : received(instructions), received_from(devices) {}
  // The device has copied in the exchange once more.
  void Count(int instruction, const DeviceExchange& own);
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  // Called once, before all else: does what takes long or needs memory, as making a library's
  // communicators. plans: [instruction], empty ones for what is no exchange; they outlive this.
  virtual absl::Status Prepare(const std::vector<ExchangePlan>& /*plans*/) {
    return absl::OkStatus();
  }

  // Makes the next step of the exchange that `device` has come to: arrive, copy, leave. Never
  // waits for another device. All devices come to the same exchanges in the same order, and `plan`
  // is always the same one for an instruction. Cancelled after Abort; other errors are failed
  // copies.
  virtual absl::StatusOr<Progress> Advance(int device, int instruction,
                                           const ExchangePlan& plan) = 0;

  // Blocks until `device`, whose last Advance was kBlocked, may go on, or until Abort.
  virtual void Wait(int device, const ExchangePlan& plan) = 0;

  // The device that `device` waits for in `plan`, or -1 where it can go on.
  virtual int WaitsFor(int device, const ExchangePlan& plan) const = 0;

  // Ends all waits, now and later, because the run has failed for this reason. From any thread;
  // waits for nothing.
  virtual void Abort(const absl::Status& reason) = 0;
  virtual bool aborted() const = 0;

  // What a library says of exchanges that were started and go on by themselves: the first failure.
  // From any thread, while devices advance.
  virtual absl::Status Check() { return absl::OkStatus(); }

  // After Abort, where devices do not come back: ends what was started and would not end. May
  // block.
  virtual void EndWork() {}

  // Makes the communicator usable again after Abort. No thread may be inside another call.
  virtual void Reset() = 0;

  // Whether it, and the devices' memory, may be freed: not where something may still write there
  // that EndWork does not end.
  virtual bool MayBeFreed() const { return true; }

  // While `recording`, Advance makes steps that are recorded and done later (step_recorder.h):
  // nothing counts as moved. Each time they are done, CountAgain counts what moves in an exchange.
  virtual void SetRecording(bool /*recording*/) {}
  virtual void CountAgain(int /*instruction*/, const ExchangePlan& /*plan*/) {}

  // Memory outside the arenas, of the device that has most.
  virtual int64_t workspace_bytes() const { return 0; }

  // Of a library: groups of messages and calls that were started so far, and how it adds up
  // ("repeatable"); 0 and "" where there are none, or nothing is added up.
  virtual int64_t groups() const { return 0; }
  virtual std::string sums() const { return ""; }

  // Valid between steps.
  virtual const Traffic& traffic(int device) const = 0;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_COMMUNICATOR_H_
