// A canonical order: by structure, not by names or by the order of the file.
#ifndef YUBA_SEARCH_REWRITE_CANONICAL_H_
#define YUBA_SEARCH_REWRITE_CANONICAL_H_

#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::search {

// By node, then: equal definitions have equal numbers.
std::vector<int> DefinitionNumbers(const Graph& graph);

// Where a program of the graph has an element, which is a tensor or a node: a node's leaves, the
// node, its result.
int ProgramPosition(const Graph& graph, int element);

// All elements (tensors first, then nodes) by a hash of what they are and of what surrounds them;
// among equals in the order of the graph.
std::vector<int> CanonicalOrder(const Graph& graph);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_REWRITE_CANONICAL_H_
