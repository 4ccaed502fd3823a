#include "runtime/host/shared_memory.h"

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::runtime {

SharedMemory::SharedMemory(std::vector<char*> arenas, int instructions)
    : arenas_(std::move(arenas)) {
  for (size_t d = 0; d < arenas_.size(); ++d) {
    peers_.push_back(std::make_unique<Peer>());
    peers_[d]->traffic.received.resize(instructions);
    peers_[d]->traffic.received_from.resize(arenas_.size());
  }
}

absl::StatusOr<Progress> SharedMemory::Advance(int device, int instruction,
                                               const ExchangePlan& plan) {
  Peer& self = *peers_[device];
  const DeviceExchange& own = plan.devices[device];
  if (aborted_) return absl::CancelledError("the run has failed on another device");
  if (self.phase != kArrive && WaitsFor(device, plan) >= 0) return Progress::kBlocked;
  switch (self.phase) {
    case kArrive:
      YUBA_RETURN_IF_ERROR(Arrive(device));
      ++self.arrived;
      self.phase = kCopy;
      Notify(own.readers);
      return Progress::kAdvanced;
    case kCopy:
      YUBA_RETURN_IF_ERROR(Copy(device, instruction, plan));
      ++self.departed;
      self.phase = kDepart;
      Notify(own.sources);
      return Progress::kAdvanced;
    case kDepart:
      YUBA_RETURN_IF_ERROR(Depart(device, plan));
      ++self.done;
      self.phase = kArrive;
      return Progress::kDone;
  }
  YUBA_CHECK(false) << "phase " << self.phase;
  return Progress::kBlocked;
}

int SharedMemory::WaitsFor(int device, const ExchangePlan& plan) const {
  const Peer& self = *peers_[device];
  if (self.phase == kCopy) {
    for (int source : plan.devices[device].sources) {
      if (peers_[source]->arrived <= self.done) return source;
    }
  }
  if (self.phase == kDepart) {
    for (int reader : plan.devices[device].readers) {
      if (peers_[reader]->departed <= self.done) return reader;
    }
  }
  return -1;
}

void SharedMemory::Notify(const std::vector<int>& devices) {
  for (int device : devices) {
    // A waiter that has read the old counters holds this lock until it sleeps; so once the lock is
    // had, the notification cannot be missed.
    std::lock_guard<std::mutex> lock(peers_[device]->mutex);
    peers_[device]->changed.notify_one();
  }
}

void SharedMemory::Wait(int device, const ExchangePlan& plan,
                        std::chrono::steady_clock::time_point deadline) {
  Peer& self = *peers_[device];
  std::unique_lock<std::mutex> lock(self.mutex);
  self.changed.wait_until(lock, deadline, [&] { return aborted_ || WaitsFor(device, plan) < 0; });
}

void SharedMemory::Abort() {
  aborted_ = true;
  for (const std::unique_ptr<Peer>& peer : peers_) {
    std::lock_guard<std::mutex> lock(peer->mutex);
    peer->changed.notify_all();
  }
}

void SharedMemory::Reset() {
  aborted_ = false;
  for (const std::unique_ptr<Peer>& peer : peers_) {
    peer->arrived = peer->departed = peer->done = 0;
    peer->phase = kArrive;
  }
}

void SharedMemory::Count(int device, int instruction, int source, int64_t bytes) {
  if (source == device) return;
  peers_[device]->traffic.received[instruction] += bytes;
  peers_[device]->traffic.received_from[source] += bytes;
}

absl::Status SharedMemory::Copy(int device, int instruction, const ExchangePlan& plan) {
  char* const result = arenas_[device] + plan.destination_offset;
  for (const Piece& piece : plan.devices[device].pieces) {
    CopyWalk(piece.walk, arenas_[piece.source] + plan.source_offset, result, plan.source_element);
    Count(device, instruction, piece.source, piece.walk.elements() * plan.source_element);
  }
  for (const Cell& cell : plan.devices[device].cells) {
    std::vector<const char*> parts;
    for (int source : cell.sources) {
      parts.push_back(arenas_[source] + plan.source_offset);
      Count(device, instruction, source, cell.walk.elements() * plan.source_element);
    }
    CombineWalk(plan.combination, cell.walk, parts, result);
  }
  return absl::OkStatus();
}

}  // namespace yuba::runtime
