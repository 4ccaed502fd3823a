// The memory of a graph's plans as rows over time: what each choice of a tensor or a node needs at
// least, and when.
#ifndef YUBA_SEARCH_MODEL_MEMORY_ROWS_H_
#define YUBA_SEARCH_MODEL_MEMORY_ROWS_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/model/graph_problem.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// Rows of a problem without clusters, in bytes of the device that needs most, for programs that run
// the nodes in the graph's order. Node i gathers at 3i, computes at 3i+1, reduces at 3i+2.
// - Inputs, parameters, constants and outputs are there always; another tensor from the reduction
//   that makes it to the last gather from it.
// - While node i computes, what it needs of a tensor that nothing reads later is there (as gathered
//   or as stored), and what it makes, unless that is a stored tensor.
// - Buffers, where something moves: for what a node needs of a tensor, while it is gathered, unless
//   a tensor may be gone by then that was gathered before, and, where the tensor lives on, while
//   the node computes; for what is made, until it is reduced; for a copy while its tensor is
//   there too, in the shard of which it may be.
// Each begins at a multiple of kSlotBytes. All of this is in every program of the plan, and hardly
// a program has more in use. Some are missing where the budget was spent before the end.
MemoryRows MemoryRowsOf(const Graph& graph, const Mesh& mesh, const Problem& problem, int64_t limit,
                        const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_MEMORY_ROWS_H_
