// The communicator of virtual devices in one process: each reads its peers' arenas directly.
#ifndef YUBA_RUNTIME_HOST_SHARED_MEMORY_H_
#define YUBA_RUNTIME_HOST_SHARED_MEMORY_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/communicator.h"

namespace yuba {

class SharedMemory : public Communicator {
 public:
  // arenas: by device, in this process. places: of the program.
  SharedMemory(std::vector<char*> arenas, int places);

  absl::StatusOr<Progress> Advance(int device, int place, const ExchangePlan& plan) override;
  void Wait(int device, const ExchangePlan& plan,
            std::chrono::steady_clock::time_point deadline) override;
  int WaitsFor(int device, const ExchangePlan& plan) const override;
  void Abort() override;
  bool aborted() const override { return aborted_; }
  void Reset() override;
  const Traffic& traffic(int device) const override { return peers_[device]->traffic; }

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
  void Copy(int device, int place, const ExchangePlan& plan);
  void Count(int device, int place, int source, int64_t bytes);

  const std::vector<char*> arenas_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::atomic<bool> aborted_{false};
};

}  // namespace yuba

#endif  // YUBA_RUNTIME_HOST_SHARED_MEMORY_H_
