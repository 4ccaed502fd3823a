#include "runtime/ranks/exchange_groups.h"

#include <algorithm>

#include "runtime/ranks/rank_collective.h"

namespace yuba::runtime {
namespace {

bool IsExchange(const ExchangePlan& plan) { return !plan.devices.empty(); }

bool Combines(const ExchangePlan& plan) {
  return std::any_of(plan.devices.begin(), plan.devices.end(),
                     [](const DeviceExchange& own) { return !own.cells.empty(); });
}

// The exchange begins behind so many bytes of the staging buffers.
void Shift(int64_t send, int64_t receive, RankExchange& exchange) {
  const auto shift = [&](Place& place) {
    if (place.room == Room::kSendBuffer) place.offset += send;
    if (place.room == Room::kReceiveBuffer) place.offset += receive;
  };
  for (Packing& packing : exchange.packings) packing.to += send;
  for (RankMessage& message : exchange.messages) shift(message.place);
  if (exchange.call.has_value()) {
    shift(exchange.call->send);
    shift(exchange.call->receive);
  }
  for (RankResult& result : exchange.results) {
    for (Place& part : result.parts) shift(part);
  }
  exchange.send_bytes += send;
  exchange.receive_bytes += receive;
}

class Maker {
 public:
  Maker(const std::vector<ExchangePlan>& plans, int rank,
        const std::function<bool(const Combination&)>& may_combine)
      : plans_(plans), rank_(rank), may_combine_(may_combine), done_(plans.size(), false) {}

  std::vector<RankExchange> Make() {
    std::vector<RankExchange> made(plans_.size());
    const std::vector<ExchangeGroup> groups = ExchangeGroupsOf(plans_);
    for (size_t g = 0; g < groups.size(); ++g) {
      int64_t send = 0, receive = 0;
      for (int p = groups[g].begin; p < groups[g].end; ++p) {
        if (done_[p]) continue;
        made[p] = MakeOne(p, Behind(groups, g));
        Shift(send, receive, made[p]);
        send = made[p].send_bytes;
        receive = made[p].receive_bytes;
      }
    }
    return made;
  }

 private:
  // The group right behind one, of the same entry; else an empty one.
  ExchangeGroup Behind(const std::vector<ExchangeGroup>& groups, size_t group) const {
    if (group + 1 == groups.size()) return {};
    const ExchangeGroup next = groups[group + 1];
    const bool right_behind = next.begin == groups[group].end &&
                              plans_[next.begin].entry == plans_[groups[group].begin].entry;
    return right_behind ? next : ExchangeGroup();
  }

  RankExchange MakeOne(int p, const ExchangeGroup& behind) {
    const ExchangePlan& plan = plans_[p];
    absl::optional<RankExchange> made;
    if (!Combines(plan)) made = AllGatherOf(plan, rank_);
    if (Combines(plan) && may_combine_(plan.combination)) {
      made = AllReduceWith(p, behind);
      if (!made.has_value()) made = ReduceScatterOf(plan, rank_);
    }
    return made.has_value() ? *std::move(made) : RankExchangeOf(plan, rank_);
  }

  // With the gather right behind the sum: what stands between them could use what the call writes.
  absl::optional<RankExchange> AllReduceWith(int sum, const ExchangeGroup& behind) {
    const int gather = sum + 1;
    if (behind.begin != gather || behind.end == gather ||
        plans_[gather].source_offset != plans_[sum].destination_offset)
      return absl::nullopt;
    absl::optional<RankExchange> made = AllReduceOf(plans_[sum], plans_[gather], rank_);
    if (made.has_value()) done_[gather] = true;
    return made;
  }

  const std::vector<ExchangePlan>& plans_;
  const int rank_;
  const std::function<bool(const Combination&)>& may_combine_;
  std::vector<bool> done_;  // [instruction] by a call of an exchange before
};

}  // namespace

std::vector<ExchangeGroup> ExchangeGroupsOf(const std::vector<ExchangePlan>& plans) {
  std::vector<ExchangeGroup> groups;
  for (size_t p = 0; p < plans.size(); ++p) {
    const int at = static_cast<int>(p);
    if (!IsExchange(plans[p])) continue;
    if (plans[p].joins && !groups.empty() && groups.back().end == at)
      ++groups.back().end;
    else
      groups.push_back({at, at + 1});
  }
  return groups;
}

std::vector<RankExchange> RankExchangesOf(
    const std::vector<ExchangePlan>& plans, int rank,
    const std::function<bool(const Combination&)>& may_combine) {
  return Maker(plans, rank, may_combine).Make();
}

}  // namespace yuba::runtime
