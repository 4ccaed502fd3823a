// Exchanges between GPUs of which each process has one: a rank packs what others read of its
// device, sends and receives through NCCL or calls a collective of it, and combines what came, as
// rank_exchange.h lists it. All of that is started on the device's stream of exchanges, in order,
// and the host goes on at once: the first Advance of an exchange is kDone. Of exchanges that begin
// together (exchange_groups.h) that of the first starts all. Partials that NCCL is not to add up
// are combined by jobs, in the order of their numbers, which has the bits of every other back end.
//
// What must hold for no rank to wait for ever: all run the same exchanges in the same order, each
// group of them is one group of NCCL, and messages between two ranks, and calls of a communicator,
// are in one order on all.
#ifndef YUBA_RUNTIME_CUDA_NCCL_COMMUNICATOR_H_
#define YUBA_RUNTIME_CUDA_NCCL_COMMUNICATOR_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runtime/communicator.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/exchange_work.h"
#include "runtime/cuda/rank_nccl.h"
#include "runtime/ranks/job.h"
#include "runtime/ranks/rank_exchange.h"
#include "runtime/ranks/rank_traffic.h"

namespace yuba::cuda {

class NcclCommunicator final : public runtime::Communicator {
 public:
  // `own` is the device whose number is the job's rank, ready to run. Job and device outlive it.
  // sums: the same on all ranks. seconds: in which the ranks must have found each other.
  NcclCommunicator(runtime::Job& job, CudaDevice& own, Sums sums, double seconds)
      : job_(job), own_(own), sums_(sums), seconds_(seconds) {}
  // Waits for what was started, or ends it where it would not end.
  ~NcclCommunicator() override;

  // Blocks until all ranks have come. ResourceExhausted where there is no memory for staging,
  // Unavailable where NCCL is missing and something moves between ranks.
  absl::Status Prepare(const std::vector<runtime::ExchangePlan>& plans) override;
  // Done at once. Blocks only while NCCL puts a group on the stream, which includes connecting to a
  // peer when it is first met.
  absl::StatusOr<runtime::Progress> Advance(int device, int instruction,
                                            const runtime::ExchangePlan& plan) override;
  void Wait(int device, const runtime::ExchangePlan& plan) override;
  // The host never waits. This is for whom the device's stream does while it is at the exchange:
  // the first of those that it reads, or that read it.
  int WaitsFor(int device, const runtime::ExchangePlan& plan) const override;
  void Abort(const absl::Status& reason) override;
  bool aborted() const override { return aborted_ || !job_.ended().ok(); }
  // Why the job has ended, where it has, else what NCCL says. The job hears where the device's
  // stream is, and that it gets on.
  absl::Status Check() override;
  void EndWork() override;
  // A job that has ended does not begin again.
  void Reset() override {}
  void SetRecording(bool recording) override { recording_ = recording; }
  void CountAgain(int instruction, const runtime::ExchangePlan& plan) override {
    Count(instruction, plan);
  }
  const runtime::Traffic& traffic(int device) const override { return traffic_.Of(device); }
  int64_t workspace_bytes() const override;
  int64_t groups() const override { return groups_; }
  std::string sums() const override;

 private:
  // Exchanges that begin together.
  struct Prepared {
    std::vector<ExchangeWork::Part> pack;
    NcclGroup group;
    std::vector<ExchangeWork::Part> results;
  };

  absl::Status Allocate(const std::vector<runtime::RankExchange>& exchanges);
  void Add(const runtime::RankExchange& exchange, const runtime::ExchangePlan& plan,
           Prepared& prepared);
  size_t CommunicatorOf(const std::vector<int>& group_of);
  NcclCall CallOf(const runtime::RankCall& call, size_t communicator) const;
  void Count(int instruction, const runtime::ExchangePlan& plan);
  char* At(const runtime::Place& place) const;
  absl::Status Start(const std::vector<ExchangeWork::Part>& parts) const;

  runtime::Job& job_;
  CudaDevice& own_;
  const Sums sums_;
  const double seconds_;
  // [instruction]: of the first exchange of those that begin together what all of them do.
  std::vector<Prepared> prepared_;
  std::vector<int> waits_for_;            // [instruction] WaitsFor
  std::vector<std::vector<int>> splits_;  // [communicator - 1] RankExchange::group_of of its calls
  bool adds_up_ = false;                  // whether some exchange combines partials
  ExchangeWork work_;                     // what it refers to
  GpuMemory send_buffer_, receive_buffer_;
  int64_t staging_bytes_ = 0;
  std::unique_ptr<RankNccl> nccl_;  // null where nothing moves between ranks
  std::atomic<bool> aborted_{false};
  bool recording_ = false;
  int64_t groups_ = 0;    // of NCCL that were started
  int64_t finished_ = 0;  // instructions of the device, when Check looked last
  runtime::RankTraffic traffic_;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_NCCL_COMMUNICATOR_H_
