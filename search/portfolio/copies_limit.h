// How much memory copies may take where nobody states a limit, and which of them are kept then.
//
// A copy lives until its last reader, in a training step often from the forward pass to the
// backward pass, so a plan may save few bytes and hold much. The same plan can do without: each
// reader gathers for itself. Where its program then needs M bytes a device, one with copies may
// need 2 M, and more where it is worth that: where bytes moved, multiplied by bytes needed, are
// fewer. Example: a plan of a training step of ResNet-50 on 8 devices needs 152 MB with copies and
// 125 MB without, which is within 250 MB. RNN-6-4K on 64 devices moves 54 GB with copies for 0.75
// GB a device, and 418 GB for the 0.38 GB that are twice what it needs without: it keeps all of
// them.
#ifndef YUBA_SEARCH_PORTFOLIO_COPIES_LIMIT_H_
#define YUBA_SEARCH_PORTFOLIO_COPIES_LIMIT_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"
#include "search/search.h"

namespace yuba::search {

// What a plan's program needs, and what its copies may make it need, in bytes a device.
struct CopiesLimit {
  int64_t needed = 0, limit = 0;
};
// Nothing where it needs no more than the limit, where one was stated, where options.memory_of is
// empty, or for another search than the default.
absl::optional<CopiesLimit> LimitForCopies(const Graph& graph, const Plan& plan,
                                           const SearchOptions& options);

// The plan with those of its copies that fit within `limit` bytes a device and save the most bytes
// together, as far as a local search finds; the readers of the others gather for themselves. All
// else is as in `plan`. What fits is decided by options.memory_of, or where that is empty by the
// rows of memory. The result states the limit as its space's; bound and proof are those of `plan`,
// which must be of a space without a limit: they hold within any. Nothing where not even the plan
// without copies fits, or where the options' time limit was reached or somebody asked for the end.
absl::optional<Plan> KeepCopiesWithin(int64_t limit, const Graph& graph, Plan plan,
                                      const SearchOptions& options);

// The bytes that the plan moves so; kForbidden where there is nothing. With `limit` 0 those that it
// moves as it is.
int64_t BytesWithin(int64_t limit, const Graph& graph, const Plan& plan,
                    const SearchOptions& options);

// How many copies the plan shares: those that are not sharded as their tensors.
int SharedCopies(const Graph& graph, const Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PORTFOLIO_COPIES_LIMIT_H_
