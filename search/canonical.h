// A canonical order: by structure, not by names or by the order of the file.
#ifndef YUBA_SEARCH_CANONICAL_H_
#define YUBA_SEARCH_CANONICAL_H_

#include <vector>

#include "opsemantics/graph.h"

namespace yuba {

// By node, then: equal definitions have equal numbers.
std::vector<int> DefinitionNumbers(const Graph& graph);

// All elements (tensors first, then nodes) by a hash of what they are and of what surrounds them;
// among equals in the order of the graph.
std::vector<int> CanonicalOrder(const Graph& graph);

}  // namespace yuba

#endif  // YUBA_SEARCH_CANONICAL_H_
