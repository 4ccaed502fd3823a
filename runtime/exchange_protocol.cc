#include "runtime/exchange_protocol.h"

#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::runtime {

void Traffic::Count(int instruction, const DeviceExchange& own) {
  for (size_t i = 0; i < own.sources.size(); ++i) {
    received[instruction] += own.received[i];
    received_from[own.sources[i]] += own.received[i];
  }
}

ExchangeProtocol::ExchangeProtocol(std::unique_ptr<ExchangeSteps> steps, int devices,
                                   int instructions)
    : steps_(std::move(steps)) {
  for (int device = 0; device < devices; ++device) {
    peers_.push_back(std::make_unique<Peer>(devices, instructions));
  }
}

absl::StatusOr<Progress> ExchangeProtocol::Advance(int device, int instruction,
                                                   const ExchangePlan& plan) {
  Peer& self = *peers_[device];
  const DeviceExchange& own = plan.devices[device];
  if (aborted_) return absl::CancelledError("the run has failed on another device");
  if (self.phase != kArrive && WaitsFor(device, plan) >= 0) return Progress::kBlocked;
  switch (self.phase) {
    case kArrive:
      YUBA_RETURN_IF_ERROR(steps_->Arrive(device, instruction));
      ++self.arrived;
      self.phase = kCopy;
      Notify(own.readers);
      return Progress::kAdvanced;
    case kCopy:
      YUBA_RETURN_IF_ERROR(steps_->Copy(device, instruction, plan));
      if (!recording_) self.traffic.Count(instruction, own);
      ++self.departed;
      self.phase = kDepart;
      Notify(own.sources);
      return Progress::kAdvanced;
    case kDepart:
      YUBA_RETURN_IF_ERROR(steps_->Depart(device, instruction, plan));
      ++self.done;
      self.phase = kArrive;
      return Progress::kDone;
  }
  YUBA_CHECK(false) << "phase " << self.phase;
  return Progress::kBlocked;
}

void ExchangeProtocol::CountAgain(int instruction, const ExchangePlan& plan) {
  for (size_t device = 0; device < plan.devices.size(); ++device)
    peers_[device]->traffic.Count(instruction, plan.devices[device]);
}

int ExchangeProtocol::WaitsFor(int device, const ExchangePlan& plan) const {
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

void ExchangeProtocol::Notify(const std::vector<int>& devices) {
  for (int device : devices) {
    // A waiter that has read the old counters holds this lock until it sleeps; so once the lock is
    // had, the notification cannot be missed.
    std::lock_guard<std::mutex> lock(peers_[device]->mutex);
    peers_[device]->changed.notify_one();
  }
}

void ExchangeProtocol::Wait(int device, const ExchangePlan& plan) {
  Peer& self = *peers_[device];
  std::unique_lock<std::mutex> lock(self.mutex);
  self.changed.wait(lock, [&] { return aborted_ || WaitsFor(device, plan) < 0; });
}

void ExchangeProtocol::Abort(const absl::Status& /*reason*/) {
  aborted_ = true;
  for (const std::unique_ptr<Peer>& peer : peers_) {
    std::lock_guard<std::mutex> lock(peer->mutex);
    peer->changed.notify_all();
  }
}

void ExchangeProtocol::Reset() {
  aborted_ = false;
  for (const std::unique_ptr<Peer>& peer : peers_) {
    peer->arrived = peer->departed = peer->done = 0;
    peer->phase = kArrive;
  }
}

}  // namespace yuba::runtime
