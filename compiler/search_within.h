// The search, with what it cannot know: the memory of a plan's program.
#ifndef YUBA_COMPILER_SEARCH_WITHIN_H_
#define YUBA_COMPILER_SEARCH_WITHIN_H_

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "search/plan/plan.h"
#include "search/search.h"

namespace yuba::compiler {

// The arena of the plan's program: bytes a device, without what libraries take for themselves.
int64_t ArenaBytes(const Model& model, const search::Plan& plan);

// These options, with what plans of the model need, which must outlive them.
search::SearchOptions MeasuredBy(const Model& model, search::SearchOptions options);

// Search, whose options.memory_limit, if there is one, holds for ArenaBytes.
absl::StatusOr<search::Plan> SearchWithinMemory(const Model& model,
                                                const search::SearchOptions& options);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SEARCH_WITHIN_H_
