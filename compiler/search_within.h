// The search under a limit on memory. The search counts what a plan must have in use; what its
// program really allocates only the compiler knows, because that depends on the buffers of spmd/
// and on the offsets of memory/. This file makes that program and hands the search its size.
#ifndef YUBA_COMPILER_SEARCH_WITHIN_H_
#define YUBA_COMPILER_SEARCH_WITHIN_H_

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "search/plan/plan.h"
#include "search/search.h"

namespace yuba::compiler {

// The size of the arena that the plan's program needs: bytes a device, equal on all devices,
// without the workspaces that libraries take for themselves. `plan` must be of model.graph as it
// is, with its copies.
int64_t ArenaBytes(const Model& model, const search::Plan& plan);

// `options`, with `memory_of` set to ArenaBytes of `model` where they have a limit on memory. The
// result refers to `model`, which must outlive it.
search::SearchOptions MeasuredBy(const Model& model, search::SearchOptions options);

// search::Search on model.graph, where options.memory_limit (bytes a device; 0: none) is a limit on
// ArenaBytes. Errors are those of search::Search: FailedPrecondition where nothing fits.
absl::StatusOr<search::Plan> SearchWithinMemory(const Model& model,
                                                const search::SearchOptions& options);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SEARCH_WITHIN_H_
