// What choices other than the plan's would move and need, as far as that is quickly known: what
// `partition` prints beside its plan. Nothing here is a guess: each figure is that of a plan.
#ifndef YUBA_TOOLS_ALTERNATIVES_H_
#define YUBA_TOOLS_ALTERNATIVES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"
#include "search/search_options.h"

namespace yuba::tools {

// Data parallelism, one of the plans that `--replicate auto` may choose.
struct DataParallelism {
  int64_t bytes = 0;  // moved in a step
  int64_t arena = 0;  // bytes that its program allocates on each device
};
// `bare`: the graph without copies, accumulators and partials. `options` are those of the plan that
// it is compared with; their time limit holds. Nothing where there is no such plan, or no time.
absl::optional<DataParallelism> DataParallelismOf(const Graph& bare, search::SearchOptions options);

// How many bytes a step of the plan would move more if these tensors were stored in as many parts
// as they allow, each in the way that is cheapest, and all else stayed as it is.
int64_t BytesOfMostParts(const Graph& graph, const search::Plan& plan,
                         const std::vector<TensorId>& tensors);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_ALTERNATIVES_H_
