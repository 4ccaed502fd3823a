// Why a graph shares less than its options allow. What it shares: SharedGraph of search/search.h.
#ifndef YUBA_SEARCH_PORTFOLIO_SHARED_GRAPH_H_
#define YUBA_SEARCH_PORTFOLIO_SHARED_GRAPH_H_

#include <string>

#include "opsemantics/definition/graph.h"
#include "search/search_options.h"

namespace yuba::search {

// A sentence on why sums of `graph`, made by SharedGraph, do not stay unreduced though the options
// allow it; "" where they do, or where no sum could.
std::string WhyNoPartials(const Graph& graph, const SearchOptions& options);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PORTFOLIO_SHARED_GRAPH_H_
