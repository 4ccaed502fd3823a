// Exchanges that one call of a library's collective does, as a single rank sees them
// (rank_exchange.h). Looked at are the plan's pieces and cells, not Exchange.collective: a group is
// the devices that exchange anything with each other, directly or through others, and all groups of
// an exchange must be of the same form. All ranks find the same calls, with the same counts; only
// where each has its bytes, and what it packs, is its own.
//
// A library knows parts of one size, side by side, in the order of the members. What does not lie
// so is packed into staging and unpacked from it. Parts of different sizes are padded there to the
// largest; where that makes more than a quarter more of them, there is no call.
//
// Example: [7, 3] f32, cut into rows 0-2 and 3-6, is gathered on two devices. Each sends 12
// elements from its send buffer, in which rank 0 has packed 9, and receives 24 into its receive
// buffer.
#ifndef YUBA_RUNTIME_RANKS_RANK_COLLECTIVE_H_
#define YUBA_RUNTIME_RANKS_RANK_COLLECTIVE_H_

#include "absl/types/optional.h"
#include "runtime/ranks/rank_exchange.h"

namespace yuba::runtime {

// Every member gets a part of each member, itself too, whatever the parts' shapes. On a rank whose
// group has only itself there is no call, and what it copies is in the results. Nothing where the
// exchange is none.
absl::optional<RankExchange> AllGatherOf(const ExchangePlan& plan, int rank);

// Every member gets, of a part of its own, the combination of what all members have of it.
absl::optional<RankExchange> ReduceScatterOf(const ExchangePlan& plan, int rank);

// A combination behind which `gather` brings all members, in place, the results of each, which
// together is one call: parts have any sizes then, and nothing is padded. `gather` has nothing to
// do any more. Not where the combination's result has another type than its partials: then the
// second half of the call would move the larger one.
absl::optional<RankExchange> AllReduceOf(const ExchangePlan& sum, const ExchangePlan& gather,
                                         int rank);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_RANK_COLLECTIVE_H_
