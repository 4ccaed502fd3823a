#include "runtime/ranks/rank_communicator.h"

#include <algorithm>
#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/reduce.h"

namespace yuba::runtime {

RankCommunicator::~RankCommunicator() {
  if (transfer_ != nullptr) transfer_->Wait();
}

absl::Status RankCommunicator::Prepare(const std::vector<ExchangePlan>& plans) {
  int64_t send_bytes = 0, receive_bytes = 0;
  for (const ExchangePlan& plan : plans) {
    exchanges_.push_back(RankExchangeOf(plan, job_.rank()));
    send_bytes = std::max(send_bytes, exchanges_.back().send_bytes);
    receive_bytes = std::max(receive_bytes, exchanges_.back().receive_bytes);
  }
  traffic_.Prepare(job_.size(), static_cast<int>(plans.size()));
  YUBA_RETURN_IF_ERROR(send_buffer_.Map(send_bytes));
  return receive_buffer_.Map(receive_bytes);
}

char* RankCommunicator::At(const Place& place) {
  return AddressOf(place, arena_, send_buffer_.data(), receive_buffer_.data());
}

void RankCommunicator::Start(const RankExchange& exchange, const ExchangePlan& plan) {
  for (const Packing& packing : exchange.packings) {
    CopyWalk(packing.walk, arena_ + plan.source_offset, send_buffer_.data() + packing.to,
             plan.source_element_bytes);
  }
  std::vector<Message> messages;
  for (const RankMessage& message : exchange.messages) {
    messages.push_back({message.peer, message.send ? Direction::kSend : Direction::kReceive,
                        At(message.place), message.bytes});
  }
  error_ = TransportError();
  if (!messages.empty()) transfer_ = job_.transport().Start(Channel::kData, messages);
}

void RankCommunicator::Combine(const RankExchange& exchange, const ExchangePlan& plan) {
  char* const destination = arena_ + plan.destination_offset;
  for (const RankResult& result : exchange.results) {
    if (!result.combines) {
      CopyWalk(result.walk, At(result.parts[0]), destination, plan.source_element_bytes);
      continue;
    }
    std::vector<const char*> parts;
    for (const Place& part : result.parts) parts.push_back(At(part));
    CombineWalk(plan.combination, result.walk, parts, destination);
  }
}

absl::StatusOr<Progress> RankCommunicator::Advance(int device, int instruction,
                                                   const ExchangePlan& plan) {
  YUBA_CHECK(device == job_.rank());
  if (aborted()) return absl::CancelledError("the run has failed on another rank");
  const RankExchange& exchange = exchanges_[instruction];
  switch (phase_) {
    case kStart:
      Start(exchange, plan);
      phase_ = transfer_ == nullptr ? kEnd : kWait;
      return Progress::kAdvanced;
    case kWait: return Progress::kBlocked;
    case kEnd: break;
  }
  if (!error_.ok()) return job_.EndOf(error_);
  Combine(exchange, plan);
  traffic_.Count(instruction, plan);
  phase_ = kStart;
  return Progress::kDone;
}

void RankCommunicator::Wait(int /*device*/, const ExchangePlan& /*plan*/) {
  error_ = job_.WaitFor(*transfer_);
  transfer_.reset();
  phase_ = kEnd;
}

// Asked by the device's own thread before it waits.
int RankCommunicator::WaitsFor(int /*device*/, const ExchangePlan& /*plan*/) const {
  return phase_ == kWait ? transfer_->WaitsFor() : -1;
}

void RankCommunicator::Abort(const absl::Status& reason) {
  // What is only cancelled has its reason elsewhere.
  if (!absl::IsCancelled(reason)) job_.Fail(reason);
  aborted_ = true;
}

}  // namespace yuba::runtime
