// The communicator of devices in one process: each reads its peers' arenas directly.
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
  // arenas: by device, in this process. places: of the program.
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
  // The three steps; a back end whose copies go on after the call puts its own in. Other devices
  // learn of a step when it has returned.
  virtual absl::Status Arrive(int /*device*/) { return absl::OkStatus(); }
  virtual absl::Status Copy(int device, int instruction, const ExchangePlan& plan);
  virtual absl::Status Depart(int /*device*/, const ExchangePlan& /*plan*/) {
    return absl::OkStatus();
  }

  void Count(int device, int instruction, int source, int64_t bytes);

 private:
  enum Phase { kArrive, kCopy, kDepart };

  // What a device has done, for the others to see: exchanges that it came to and that it has read.
  struct Peer {
    std::atomic<int64_t> arrived{0}, departed{0};
    std::mutex mutex;  // held to change either and to wait for a change of another's
    std::condition_variable changed;
    Phase phase = kArrive;  // these are its own
    int64_t done = 0;
    Traffic traffic;
  };

  void Notify(const std::vector<int>& devices);

  const std::vector<char*> arenas_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::atomic<bool> aborted_{false};
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_SHARED_MEMORY_H_
