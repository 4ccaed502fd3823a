// One rank's part in a call of a library's collective: from and to where its bytes lie, where these
// are as the library wants them, else through staging.
#ifndef YUBA_RUNTIME_RANKS_CALL_MAKER_H_
#define YUBA_RUNTIME_RANKS_CALL_MAKER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/ranks/rank_exchange.h"

namespace yuba::runtime {

// One buffer of a walk alone.
BoxWalk Only(const BoxWalk& walk, size_t buffer);

// Where a rank has parts in one of its buffers.
struct Side {
  std::vector<BoxWalk> walks;   // [part]; without extents: it has none, or need not be touched
  std::vector<int64_t> starts;  // [part] where a library has it, in elements
  int64_t elements = 0;         // that a library has in all
  int64_t buffer = 0;           // where the buffer begins in the arena, bytes

  // The element of the buffer at which a library finds all of it as it lies there.
  absl::optional<int64_t> Direct() const;
};

class CallMaker {
 public:
  // group_of: as RankExchange has it.
  CallMaker(const ExchangePlan& plan, RankCall::Kind kind, std::vector<int> group_of);

  // Once. count: as RankCall has it. in_place: the element at which the side that is sent lies in
  // the one that is received, or in a reduce-scatter the other way round, where a library wants
  // them so.
  RankExchange Make(int64_t count, const Side& sent, const Side& received, int64_t in_place);

 private:
  bool Converts() const {
    return call_.kind != RankCall::kAllGather && call_.combination.from != call_.combination.to;
  }
  absl::optional<int64_t> DirectTo(const Side& received) const;
  absl::optional<int64_t> DirectFrom(const Side& sent, const Side& received,
                                     int64_t in_place) const;
  void Pack(const Side& sent);
  void Unpack(const Side& received);

  RankCall call_;
  RankExchange exchange_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_CALL_MAKER_H_
