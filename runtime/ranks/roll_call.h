// The first words between ranks: who is there. They are of one form in all versions of the command,
// so that different versions understand that they are.
#ifndef YUBA_RUNTIME_RANKS_ROLL_CALL_H_
#define YUBA_RUNTIME_RANKS_ROLL_CALL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/ranks/rank_facts.h"
#include "runtime/ranks/transport.h"

namespace yuba::runtime {

// All ranks call it: gives their facts, [rank], or the same error on all that are reached. Who says
// nothing for `limit_seconds` is missing. After an error the transport is of no more use.
absl::StatusOr<std::vector<RankFacts>> CallRoll(Transport& transport, const RankFacts& own,
                                                double limit_seconds);

// Whether `facts`, in the order of the transport's ranks, are those of one whole job. transport:
// its name.
absl::Status CheckFacts(const std::vector<RankFacts>& facts, const std::string& transport);

// Job::OwnProcessors of a rank.
int ProcessorsOf(const std::vector<RankFacts>& ranks, int rank);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_ROLL_CALL_H_
