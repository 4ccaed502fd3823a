// One exchange as a single rank sees it: what it packs, sends, receives and combines, where each
// device is a process of its own. It follows from the plan that all ranks have, so that what one
// sends is what another one receives, message by message. Nothing here moves anything.
//
// Example: rank 1 reads columns 4-7 of rank 0's [2, 8] f32 into a buffer over these columns. Rank 0
// packs 8 floats into its send buffer and has one message of 32 bytes to rank 1; rank 1 receives
// them where they belong, since there they lie side by side.
#ifndef YUBA_RUNTIME_RANKS_RANK_EXCHANGE_H_
#define YUBA_RUNTIME_RANKS_RANK_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/exchange_plan.h"

namespace yuba::runtime {

// Where bytes lie: in the device's arena or in one of two staging buffers.
enum class Room { kArena, kSendBuffer, kReceiveBuffer };
struct Place {
  Room room = Room::kArena;
  int64_t offset = 0;  // bytes
};

// The address of a place, where arena and buffers are at these.
char* AddressOf(const Place& place, char* arena, char* send_buffer, char* receive_buffer);

// A piece, or one partial of a cell, that another rank reads of this one or this one of another.
struct RankMessage {
  int peer = 0;
  bool send = false;
  Place place;
  int64_t bytes = 0;  // at least 1
};

// A call of a library in the place of messages: all members of the rank's group make the same one,
// each with places of its own (rank_collective.h).
struct RankCall {
  // What is sent and received, in elements; parts are by member, ascending:
  //   kAllGather       the own part     all parts
  //   kReduceScatter   all parts        the sum of the own part over all members
  //   kAllReduce       `count`          the sum of them over all members
  enum Kind { kAllGather, kReduceScatter, kAllReduce };
  Kind kind = kAllGather;
  int64_t count = 0;  // elements of a part, or of all; at least 1
  int64_t element_bytes = 0;
  Combination combination;  // of sums
  Place send, receive;      // apart, or where a library wants them for a call in place
};

// A copy of elements of the source buffer into the send buffer, before they are sent.
struct Packing {
  BoxWalk walk;    // of the source buffer, then of what is packed
  int64_t to = 0;  // in the send buffer, bytes
};

// A box of the rank's own destination buffer, made once all messages are there: a copy, or the
// partials of a cell combined.
struct RankResult {
  bool combines = false;
  BoxWalk walk;              // of the parts, then of the destination buffer
  std::vector<Place> parts;  // where the buffers lie that the walk goes through
};

struct RankExchange {
  std::vector<Packing> packings;
  std::vector<RankMessage> messages;  // those between two ranks are in one order on both
  absl::optional<RankCall> call;      // there are no messages then
  // Of an exchange that is made by calls, for each device the first one of its group: the same on
  // all ranks, also on one that is alone in its group and calls nothing. Else empty.
  std::vector<int> group_of;
  std::vector<RankResult> results;            // in the plan's order
  int64_t send_bytes = 0, receive_bytes = 0;  // that it needs of the two staging buffers
};

// By messages.
RankExchange RankExchangeOf(const ExchangePlan& plan, int rank);

// Whether the walk's elements lie side by side in a buffer, in the walk's order.
bool IsDense(const BoxWalk& walk, size_t buffer);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_RANK_EXCHANGE_H_
