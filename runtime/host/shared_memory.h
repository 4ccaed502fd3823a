// The communicator of devices in one process: each device reads its peers' arenas directly and
// writes only its own. The protocol is two counters for each device: exchanges that it has come to
// (`arrived`) and exchanges in which it has read all that it reads (`departed`). A device copies
// when all its sources have arrived, and goes on when all its readers have departed; then neither
// can see memory that is not written yet or overwritten too early. Wait blocks on a condition
// variable of the waiting device; the devices that it waits for notify it.
#ifndef YUBA_RUNTIME_HOST_SHARED_MEMORY_H_
#define YUBA_RUNTIME_HOST_SHARED_MEMORY_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/communicator.h"

namespace yuba::runtime {

class SharedMemory : public Communicator {
 public:
  // arenas: [device], in the address space of this process; they outlive the communicator.
  // instructions: how many the program has.
  SharedMemory(std::vector<char*> arenas, int instructions);

  absl::StatusOr<Progress> Advance(int device, int instruction, const ExchangePlan& plan) override;
  void Wait(int device, const ExchangePlan& plan,
            std::chrono::steady_clock::time_point deadline) override;
  int WaitsFor(int device, const ExchangePlan& plan) const override;
  void Abort() override;
  bool aborted() const override { return aborted_; }
  void Reset() override;
  const Traffic& traffic(int device) const override { return peers_[device]->traffic; }

 protected:
  // The three steps. A back end whose copies go on after the call (cuda/) has its own; other
  // devices learn of a step when it has returned. Copy must count what it copies.
  virtual absl::Status Arrive(int /*device*/) { return absl::OkStatus(); }
  virtual absl::Status Copy(int device, int instruction, const ExchangePlan& plan);
  virtual absl::Status Depart(int /*device*/, const ExchangePlan& /*plan*/) {
    return absl::OkStatus();
  }

  // Adds payload that `device` received; nothing where `source` is the device itself.
  void Count(int device, int instruction, int source, int64_t bytes);

 private:
  enum Phase { kArrive, kCopy, kDepart };

  // What one device has done.
  struct Peer {
    std::atomic<int64_t> arrived{0}, departed{0};  // exchanges; other devices read these
    std::mutex mutex;                              // with `changed`: held while the device waits
    std::condition_variable changed;  // a counter that the device waits for may have grown
    Phase phase = kArrive;            // the step to come; this and the rest only the device uses
    int64_t done = 0;                 // exchanges that it has left
    Traffic traffic;
  };

  // Wakes `devices` where they wait, after a counter has grown.
  void Notify(const std::vector<int>& devices);

  const std::vector<char*> arenas_;
  std::vector<std::unique_ptr<Peer>> peers_;  // [device]
  std::atomic<bool> aborted_{false};
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_SHARED_MEMORY_H_
