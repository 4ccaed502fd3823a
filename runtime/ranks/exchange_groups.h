// Which exchanges of a program a rank begins together, and how each of them is made: by messages,
// by a call of a library, or, where a call has done it before, by nothing. All ranks find the same,
// as it follows from the plans alone.
//
// Exchanges that join the one before them (ExchangePlan::joins) are a group: all of them are
// packed, then all messages and calls are started at once, then all results are made.
#ifndef YUBA_RUNTIME_RANKS_EXCHANGE_GROUPS_H_
#define YUBA_RUNTIME_RANKS_EXCHANGE_GROUPS_H_

#include <functional>
#include <vector>

#include "runtime/ranks/rank_exchange.h"

namespace yuba::runtime {

// Instructions [begin, end), at least one, all of them exchanges.
struct ExchangeGroup {
  int begin = 0, end = 0;
};

// plans: [instruction], empty ones for what is no exchange. In the program's order.
std::vector<ExchangeGroup> ExchangeGroupsOf(const std::vector<ExchangePlan>& plans);

// [instruction] what the rank does. In all-gathers, and where may_combine says so in reductions, a
// call comes in the place of messages; a reduction with the gather of its own result in the group
// right behind it is one all-reduce, and the gather then does nothing. What exchanges of one group
// need of the staging buffers lies side by side.
std::vector<RankExchange> RankExchangesOf(
    const std::vector<ExchangePlan>& plans, int rank,
    const std::function<bool(const Combination&)>& may_combine);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_EXCHANGE_GROUPS_H_
