// Which nodes of a graph have the same choices at the same costs, so that one of them is looked at.
#ifndef YUBA_SEARCH_CHECK_ALIKE_H_
#define YUBA_SEARCH_CHECK_ALIKE_H_

#include <cstddef>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/check/pins.h"

namespace yuba::search {

// By node: the first node that has the same choices at the same costs. Both have equal definitions
// and pins, and the tensors that they read and write have equal choices.
std::vector<size_t> FirstAlike(const Graph& graph, const PinsOfElements& pins);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_ALIKE_H_
