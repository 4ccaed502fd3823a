// What devices hold of tensors that are cut into parts, whatever mesh axes cut them.
#ifndef YUBA_SEARCH_CHECK_HELD_H_
#define YUBA_SEARCH_CHECK_HELD_H_

#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/check/tables.h"
#include "search/plan/memory_price.h"

namespace yuba::search {

// By grid instead of by choice: all choices of a grid have the same shards, and need and make the
// same boxes, if not on the same devices. Boxes are there of nodes that need them (check_memory.h).
HeldElements HeldByGrid(const Graph& graph, const Mesh& mesh, bool replicate,
                        const std::vector<MemoryPrice>& prices);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_HELD_H_
