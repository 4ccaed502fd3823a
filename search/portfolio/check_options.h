// What must hold of options and graph before any search begins.
#ifndef YUBA_SEARCH_PORTFOLIO_CHECK_OPTIONS_H_
#define YUBA_SEARCH_PORTFOLIO_CHECK_OPTIONS_H_

#include "absl/status/status.h"
#include "opsemantics/definition/graph.h"
#include "search/search_options.h"

namespace yuba::search {

// InvalidArgument where one use alone could move kForbidden bytes (solve/pairwise.h): at most its
// whole tensor into each device, and once more into each owner. That all uses together can is no
// reason to refuse a graph (model/countable.h).
absl::Status CheckCountable(const Graph& graph, const Mesh& mesh);

// InvalidArgument where the costs are not countable, where the options contradict each other, or
// where the named search cannot do what they or the graph demand.
absl::Status CheckOptions(const Graph& graph, const SearchOptions& options);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PORTFOLIO_CHECK_OPTIONS_H_
