// Exchanges between devices of which each process has one: a rank packs what others read of its
// device, sends and receives through the job's transport, and combines what came as virtual devices
// of one process do, in the same order and with the same bits (rank_exchange.h).
//
// In terms of communicator.h: the first Advance packs and starts all messages, the next ones are
// kBlocked until Wait has seen them through, and the last one combines: kDone.
#ifndef YUBA_RUNTIME_RANKS_RANK_COMMUNICATOR_H_
#define YUBA_RUNTIME_RANKS_RANK_COMMUNICATOR_H_

#include <atomic>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/communicator.h"
#include "runtime/mapped_memory.h"
#include "runtime/ranks/job.h"
#include "runtime/ranks/rank_exchange.h"
#include "runtime/ranks/rank_traffic.h"

namespace yuba::runtime {

class RankCommunicator : public Communicator {
 public:
  // arena: of the device whose number is the job's rank. Job and arena outlive the communicator.
  RankCommunicator(Job& job, char* arena) : job_(job), arena_(arena) {}
  // Waits for messages that are still on their way; a job that has ended ends them.
  ~RankCommunicator() override;

  // ResourceExhausted where there is no memory for staging.
  absl::Status Prepare(const std::vector<ExchangePlan>& plans) override;
  absl::StatusOr<Progress> Advance(int device, int instruction, const ExchangePlan& plan) override;
  void Wait(int device, const ExchangePlan& plan) override;
  int WaitsFor(int device, const ExchangePlan& plan) const override;
  void Abort(const absl::Status& reason) override;
  bool aborted() const override { return aborted_ || !job_.ended().ok(); }
  // Why the job has ended, where it has.
  absl::Status Check() override { return job_.ended(); }
  // A job that has ended does not begin again.
  void Reset() override {}
  // What is on its way when the job ends may still be written to where the transport was told to
  // receive it.
  bool MayBeFreed() const override { return job_.ended().ok(); }
  // Of other devices: as the plan says, in the exchanges that this one has been through.
  const Traffic& traffic(int device) const override { return traffic_.Of(device); }
  int64_t workspace_bytes() const override {
    return send_buffer_.bytes() + receive_buffer_.bytes();
  }

 private:
  enum Phase { kStart, kWait, kEnd };

  char* At(const Place& place);
  void Start(const RankExchange& exchange, const ExchangePlan& plan);
  void Combine(const RankExchange& exchange, const ExchangePlan& plan);

  Job& job_;
  char* const arena_;
  std::vector<RankExchange> exchanges_;  // [instruction]; empty ones for kernels
  MappedMemory send_buffer_, receive_buffer_;
  Phase phase_ = kStart;                // of the exchange that the device has come to
  std::unique_ptr<Transfer> transfer_;  // of its messages; null: it has none, or they are through
  TransportError error_;                // of the transfer
  std::atomic<bool> aborted_{false};
  RankTraffic traffic_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_RANK_COMMUNICATOR_H_
