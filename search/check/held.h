// What devices hold of tensors and boxes by grid: the sizes behind prices on memory in a proof of
// kind "dual".
#ifndef YUBA_SEARCH_CHECK_HELD_H_
#define YUBA_SEARCH_CHECK_HELD_H_

#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/check/pins.h"
#include "search/check/tables.h"
#include "search/plan/plan.h"

namespace yuba::search {

// HeldElements by grid instead of by choice: all choices of a grid have the same shards and read
// and write the same boxes, if not on the same devices. Grids are those of MakeRelaxedTables, of a
// plan's mesh and space and the pins of that. Boxes are listed for the nodes of which ReadBoxes
// (memory.h) says so at the prices of the plan's proof; for others there are none.
HeldElements HeldByGrid(const Graph& graph, const Plan& plan, const PinsOfElements& pins);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_HELD_H_
