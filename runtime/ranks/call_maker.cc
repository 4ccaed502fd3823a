#include "runtime/ranks/call_maker.h"

#include "runtime/staging.h"

namespace yuba::runtime {
namespace {

// The walk of one buffer, from or to where its elements lie side by side: that is `packed` of the
// two buffers that it has then.
BoxWalk WithPacked(const BoxWalk& alone, size_t packed) {
  return Packed({alone.extents, {alone.buffers[0], alone.buffers[0]}}, packed);
}

}  // namespace

BoxWalk Only(const BoxWalk& walk, size_t buffer) { return {walk.extents, {walk.buffers[buffer]}}; }

absl::optional<int64_t> Side::Direct() const {
  absl::optional<int64_t> begin;
  int64_t covered = 0;
  for (size_t p = 0; p < walks.size(); ++p) {
    if (walks[p].extents.empty()) continue;
    const int64_t at = walks[p].buffers[0].offset - starts[p];
    if (!IsDense(walks[p], 0) || (begin.has_value() && *begin != at)) return absl::nullopt;
    begin = at;
    covered += walks[p].elements();
  }
  return covered == elements ? begin : absl::nullopt;
}

CallMaker::CallMaker(const ExchangePlan& plan, RankCall::Kind kind, std::vector<int> group_of) {
  call_.kind = kind;
  exchange_.group_of = std::move(group_of);
  call_.element_bytes = plan.source_element_bytes;
  call_.combination = plan.combination;
}

RankExchange CallMaker::Make(int64_t count, const Side& sent, const Side& received,
                             int64_t in_place) {
  call_.count = count;
  const absl::optional<int64_t> from = DirectFrom(sent, received, in_place);
  if (from.has_value())
    call_.send = {Room::kArena, sent.buffer + *from * call_.element_bytes};
  else
    Pack(sent);
  const absl::optional<int64_t> to = DirectTo(received);
  if (to.has_value())
    call_.receive = {Room::kArena, received.buffer + *to * call_.element_bytes};
  else
    Unpack(received);
  exchange_.call = std::move(call_);
  return std::move(exchange_);
}

absl::optional<int64_t> CallMaker::DirectTo(const Side& received) const {
  return Converts() ? absl::nullopt : received.Direct();
}

// Nothing too where what is received would be written over what is sent.
absl::optional<int64_t> CallMaker::DirectFrom(const Side& sent, const Side& received,
                                              int64_t in_place) const {
  const absl::optional<int64_t> from = sent.Direct(), to = DirectTo(received);
  if (!from.has_value() || !to.has_value()) return from;
  const int64_t bytes = call_.element_bytes;
  const int64_t send = sent.buffer + *from * bytes, receive = received.buffer + *to * bytes;
  const bool apart =
      send + sent.elements * bytes <= receive || receive + received.elements * bytes <= send;
  const bool fits = call_.kind == RankCall::kReduceScatter ? receive == send + in_place * bytes
                                                           : send == receive + in_place * bytes;
  return apart || fits ? from : absl::nullopt;
}

void CallMaker::Pack(const Side& sent) {
  const int64_t at = TakeStaging(sent.elements * call_.element_bytes, exchange_.send_bytes);
  call_.send = {Room::kSendBuffer, at};
  for (size_t p = 0; p < sent.walks.size(); ++p) {
    if (sent.walks[p].extents.empty()) continue;
    exchange_.packings.push_back(
        {WithPacked(sent.walks[p], 1), at + sent.starts[p] * call_.element_bytes});
  }
}

void CallMaker::Unpack(const Side& received) {
  const int64_t at = TakeStaging(received.elements * call_.element_bytes, exchange_.receive_bytes);
  call_.receive = {Room::kReceiveBuffer, at};
  for (size_t p = 0; p < received.walks.size(); ++p) {
    if (received.walks[p].extents.empty()) continue;
    const Place part = {Room::kReceiveBuffer, at + received.starts[p] * call_.element_bytes};
    exchange_.results.push_back({Converts(), WithPacked(received.walks[p], 0), {part}});
  }
}

}  // namespace yuba::runtime
