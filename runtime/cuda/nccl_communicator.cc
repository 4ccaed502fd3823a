#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/nccl_communicator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/exchange_groups.h"

namespace yuba::cuda {
namespace {

using runtime::ExchangePlan;
using runtime::RankExchange;

// Whether some rank sends something to another one; the same on all ranks.
bool SomethingMoves(const std::vector<ExchangePlan>& plans) {
  return std::any_of(plans.begin(), plans.end(), [](const ExchangePlan& plan) {
    return std::any_of(plan.devices.begin(), plan.devices.end(),
                       [](const runtime::DeviceExchange& own) { return !own.sources.empty(); });
  });
}

// Whether the exchange combines partials in a result that shows their order.
bool AddsUp(const ExchangePlan& plan) {
  const absl::optional<NcclReduction> reduction = NcclReductionOf(plan.combination);
  if (!reduction.has_value() || reduction->exact) return false;
  return std::any_of(plan.devices.begin(), plan.devices.end(),
                     [](const runtime::DeviceExchange& own) {
                       return std::any_of(own.cells.begin(), own.cells.end(),
                                          [](const auto& cell) { return cell.sources.size() > 1; });
                     });
}

}  // namespace

NcclCommunicator::~NcclCommunicator() {
  const bool idle =
      own_.gpu().Enter().ok() && cudaStreamQuery(own_.exchange_stream()) == cudaSuccess;
  if (!idle || aborted_) EndWork();
  nccl_.reset();
  if (own_.gpu().Enter().ok()) cudaStreamSynchronize(own_.exchange_stream());
}

absl::Status NcclCommunicator::Allocate(const std::vector<RankExchange>& exchanges) {
  int64_t send = 0, receive = 0;
  for (const RankExchange& exchange : exchanges) {
    send = std::max(send, exchange.send_bytes);
    receive = std::max(receive, exchange.receive_bytes);
  }
  staging_bytes_ = send + receive;
  YUBA_RETURN_IF_ERROR(own_.gpu().Enter());
  absl::Status status;
  if (send > 0) status = send_buffer_.Allocate(send);
  if (receive > 0 && status.ok()) status = receive_buffer_.Allocate(receive);
  return Annotate(status, absl::StrCat("device ", job_.rank(), ": memory to exchange through, ",
                                       staging_bytes_, " bytes beside the arena; plan the model ",
                                       "with a smaller --memory, or for more devices"));
}

absl::Status NcclCommunicator::Prepare(const std::vector<ExchangePlan>& plans) {
  const std::vector<RankExchange> exchanges = runtime::RankExchangesOf(
      plans, job_.rank(),
      [this](const runtime::Combination& combination) { return NcclAddsUp(sums_, combination); });
  traffic_.Prepare(job_.size(), static_cast<int>(plans.size()));
  YUBA_RETURN_IF_ERROR(Allocate(exchanges));
  prepared_.resize(plans.size());
  for (const runtime::ExchangeGroup& group : runtime::ExchangeGroupsOf(plans)) {
    for (int p = group.begin; p < group.end; ++p)
      Add(exchanges[p], plans[p], prepared_[group.begin]);
  }
  for (const ExchangePlan& plan : plans) {
    waits_for_.push_back(WaitsFor(job_.rank(), plan));
    adds_up_ = adds_up_ || AddsUp(plan);
  }
  YUBA_RETURN_IF_ERROR(work_.Store(own_.stream()));
  if (!SomethingMoves(plans)) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(const Nccl* const nccl, Nccl::Open());
  YUBA_ASSIGN_OR_RETURN(nccl_, RankNccl::Make(*nccl, job_, own_.gpu(), splits_, seconds_));
  return absl::OkStatus();
}

char* NcclCommunicator::At(const runtime::Place& place) const {
  return runtime::AddressOf(place, own_.arena(), send_buffer_.data(), receive_buffer_.data());
}

// That of all ranks, or one that is split from it. All ranks come here with the same groups in the
// same order, so that they split alike.
size_t NcclCommunicator::CommunicatorOf(const std::vector<int>& group_of) {
  const bool all =
      std::all_of(group_of.begin(), group_of.end(), [](int first) { return first == 0; });
  if (all) return 0;
  const auto known = std::find(splits_.begin(), splits_.end(), group_of);
  const auto split = static_cast<size_t>(known - splits_.begin());
  if (known == splits_.end()) splits_.push_back(group_of);
  return 1 + split;
}

NcclCall NcclCommunicator::CallOf(const runtime::RankCall& call, size_t communicator) const {
  NcclCall made;
  made.kind = call.kind;
  made.communicator = communicator;
  made.send = At(call.send);
  made.receive = At(call.receive);
  made.count = call.count;
  if (call.kind == runtime::RankCall::kAllGather)
    made.count *= call.element_bytes;  // of bytes
  else
    made.reduction = *NcclReductionOf(call.combination);
  return made;
}

void NcclCommunicator::Add(const RankExchange& exchange, const ExchangePlan& plan,
                           Prepared& prepared) {
  for (const runtime::Packing& packing : exchange.packings) {
    prepared.pack.push_back(work_.Copy(packing.walk, own_.arena() + plan.source_offset,
                                       send_buffer_.data() + packing.to,
                                       plan.source_element_bytes));
  }
  for (const runtime::RankMessage& message : exchange.messages) {
    prepared.group.messages.push_back(
        {message.peer, message.send, At(message.place), message.bytes});
  }
  if (!exchange.group_of.empty()) {
    const size_t communicator = CommunicatorOf(exchange.group_of);
    if (exchange.call.has_value())
      prepared.group.calls.push_back(CallOf(*exchange.call, communicator));
  }
  char* const destination = own_.arena() + plan.destination_offset;
  for (const runtime::RankResult& result : exchange.results) {
    std::vector<const char*> parts;
    for (const runtime::Place& part : result.parts) parts.push_back(At(part));
    prepared.results.push_back(
        result.combines
            ? work_.Combine(plan.combination, result.walk, parts, destination)
            : work_.Copy(result.walk, parts[0], destination, plan.source_element_bytes));
  }
}

absl::Status NcclCommunicator::Start(const std::vector<ExchangeWork::Part>& parts) const {
  for (const ExchangeWork::Part& part : parts)
    YUBA_RETURN_IF_ERROR(work_.Start(part, own_.gpu(), own_.exchange_stream()));
  return absl::OkStatus();
}

absl::StatusOr<runtime::Progress> NcclCommunicator::Advance(int device, int instruction,
                                                            const ExchangePlan& plan) {
  YUBA_CHECK(device == job_.rank());
  if (aborted()) return absl::CancelledError("the run has failed on another rank");
  const Prepared& prepared = prepared_[instruction];
  YUBA_RETURN_IF_ERROR(own_.gpu().Enter());
  YUBA_RETURN_IF_ERROR(own_.BeforeExchange(instruction));
  YUBA_RETURN_IF_ERROR(Start(prepared.pack));
  if (!prepared.group.empty()) {
    YUBA_RETURN_IF_ERROR(
        nccl_->Start(prepared.group, own_.exchange_stream(), [this] { return aborted(); }));
  }
  YUBA_RETURN_IF_ERROR(Start(prepared.results));
  YUBA_RETURN_IF_ERROR(own_.StartedExchange(instruction));
  if (!recording_) Count(instruction, plan);
  return runtime::Progress::kDone;
}

void NcclCommunicator::Count(int instruction, const ExchangePlan& plan) {
  traffic_.Count(instruction, plan);
  groups_ += prepared_[instruction].group.empty() ? 0 : 1;
}

void NcclCommunicator::Wait(int /*device*/, const ExchangePlan& /*plan*/) {
  YUBA_CHECK(false) << "no Advance of ranks on GPUs is blocked";
}

int NcclCommunicator::WaitsFor(int device, const ExchangePlan& plan) const {
  if (plan.devices.empty()) return -1;
  const runtime::DeviceExchange& own = plan.devices[device];
  if (!own.sources.empty()) return own.sources[0];
  return own.readers.empty() ? -1 : own.readers[0];
}

void NcclCommunicator::Abort(const absl::Status& reason) {
  // What is only cancelled has its reason elsewhere.
  if (!absl::IsCancelled(reason)) job_.Fail(reason);
  aborted_ = true;
}

absl::Status NcclCommunicator::Check() {
  YUBA_RETURN_IF_ERROR(job_.ended());
  if (own_.finished() != finished_) job_.GotOn();
  finished_ = own_.finished();
  const runtime::UnfinishedWork work = own_.unfinished();
  int waits_for = -1;
  for (const int instruction : work.candidates) {
    if (waits_for < 0) waits_for = waits_for_[instruction];
  }
  job_.StandsAt(work.none() ? -1 : work.candidates[0], waits_for);
  return nccl_ == nullptr || aborted_ ? absl::OkStatus() : nccl_->Check();
}

void NcclCommunicator::EndWork() {
  if (nccl_ != nullptr) nccl_->EndWork();
}

std::string NcclCommunicator::sums() const { return adds_up_ ? Name(sums_) : ""; }

int64_t NcclCommunicator::workspace_bytes() const {
  return staging_bytes_ + (nccl_ == nullptr ? 0 : nccl_->memory_bytes());
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
