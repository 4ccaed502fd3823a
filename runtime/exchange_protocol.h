// The communicator of devices that one process drives and that read each other's memory. It decides
// when a device may copy and when it may go on, and counts what moves; how boxes are copied is the
// back end's (ExchangeSteps).
//
// Two counters for each device are the whole protocol: exchanges that it has come to (`arrived`)
// and exchanges in which it has read all that it reads (`departed`). A device copies when all its
// sources have arrived, and goes on when all its readers have departed; so no device sees memory
// that is not written yet or is overwritten too early. Wait blocks on a condition variable of the
// waiting device; the devices that it waits for notify it.
//
// Example, as in communicator.h, device 0 reads from device 1: Advance(0) calls Arrive(0), the next
// one, once device 1 has arrived, Copy(0), the third Depart(0). Copy(1) comes without waiting, as
// device 1 reads nobody; Depart(1) comes after Copy(0) has returned.
#ifndef YUBA_RUNTIME_EXCHANGE_PROTOCOL_H_
#define YUBA_RUNTIME_EXCHANGE_PROTOCOL_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/communicator.h"

namespace yuba::runtime {

// What a back end does at the three steps of an exchange. Calls for different devices may come at
// once, for one device only one after the other. An error ends the run. Other devices learn of a
// step when its function has returned: where copies go on after that, as on GPUs, the back end
// itself puts in order what is started at these steps.
class ExchangeSteps {
 public:
  virtual ~ExchangeSteps() = default;

  // As Communicator::Prepare.
  virtual absl::Status Prepare(const std::vector<ExchangePlan>& /*plans*/) {
    return absl::OkStatus();
  }

  // `device` has come to an exchange: its readers may copy what it wrote before.
  virtual absl::Status Arrive(int /*device*/, int /*instruction*/) { return absl::OkStatus(); }

  // All sources of `device` have arrived: runs, or starts, the pieces and cells that `plan` lists
  // for it. `plan` is the same one whenever the device comes to `instruction`.
  virtual absl::Status Copy(int device, int instruction, const ExchangePlan& plan) = 0;

  // All readers of `device` have copied: it may write again what they have read.
  virtual absl::Status Depart(int /*device*/, int /*instruction*/, const ExchangePlan& /*plan*/) {
    return absl::OkStatus();
  }
};

class ExchangeProtocol final : public Communicator {
 public:
  // devices: of the mesh; instructions: of the program. Owns the steps.
  ExchangeProtocol(std::unique_ptr<ExchangeSteps> steps, int devices, int instructions);

  absl::Status Prepare(const std::vector<ExchangePlan>& plans) override {
    return steps_->Prepare(plans);
  }
  absl::StatusOr<Progress> Advance(int device, int instruction, const ExchangePlan& plan) override;
  void Wait(int device, const ExchangePlan& plan) override;
  int WaitsFor(int device, const ExchangePlan& plan) const override;
  void Abort(const absl::Status& reason) override;
  bool aborted() const override { return aborted_; }
  void Reset() override;
  void SetRecording(bool recording) override { recording_ = recording; }
  void CountAgain(int instruction, const ExchangePlan& plan) override;
  const Traffic& traffic(int device) const override { return peers_[device]->traffic; }

 private:
  enum Phase { kArrive, kCopy, kDepart };

  // What one device has done.
  struct Peer {
    Peer(int devices, int instructions) : traffic(devices, instructions) {}

    std::atomic<int64_t> arrived{0}, departed{0};  // exchanges; other devices read these
    std::mutex mutex;                              // with `changed`: held while the device waits
    std::condition_variable changed;  // a counter that the device waits for may have grown
    Phase phase = kArrive;            // the step to come; this and the rest only the device uses
    int64_t done = 0;                 // exchanges that it has left
    Traffic traffic;
  };

  // Wakes `devices` where they wait, after a counter has grown.
  void Notify(const std::vector<int>& devices);

  const std::unique_ptr<ExchangeSteps> steps_;
  std::vector<std::unique_ptr<Peer>> peers_;  // [device]
  std::atomic<bool> aborted_{false};
  bool recording_ = false;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_EXCHANGE_PROTOCOL_H_
