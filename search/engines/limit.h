// Plans within a limit on memory, or with replicas: engines "plain" and "limit" (engine.h).
//
// The plan without a limit and without replicas comes first. Where replicas are not allowed and its
// program fits, it is the answer. Else all axes are searched at once (within_limit.h) where their
// tables can be made, else grids (grids_within_limit.h); both begin from that plan, the recursion
// and the baselines.
#ifndef YUBA_SEARCH_ENGINES_LIMIT_H_
#define YUBA_SEARCH_ENGINES_LIMIT_H_

#include "absl/status/status.h"
#include "search/engines/task.h"

namespace yuba::search {

// InvalidArgument where the task has pins and allows replicas, and needs tables that are too large.
// Engine "limit" fails with the same error where the plan without a limit does not fit.
absl::Status CheckPinsAndMemory(const Task& task);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_LIMIT_H_
