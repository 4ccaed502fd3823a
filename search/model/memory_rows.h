// The memory of a graph's plans as rows over time: the least that each choice of a tensor or a node
// needs, and when.
//
// Rows are in bytes of the device that needs most, for programs that run the nodes in the graph's
// order. Node i gathers at time 3i, computes at 3i+1 and reduces at 3i+2. Example: y = relu(x w)
// with p = x w as node 0 and the map as node 1. The inputs x, w and the output y are in use from 0
// to 6; p from 2, when node 0 reduces into it, to 4, after node 1 has gathered it at 3.
#ifndef YUBA_SEARCH_MODEL_MEMORY_ROWS_H_
#define YUBA_SEARCH_MODEL_MEMORY_ROWS_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/model/graph_problem.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// The rows of a problem without clusters (ProblemOptions::cluster false), and the limit in bytes.
// - Inputs, parameters, constants and outputs are in use always; any other tensor from the
//   reduction that makes it to the last gather from it, or until it is added up as part of a long
//   sum (opsemantics/definition/short_sums.h).
// - While node i computes, its box of an operand that nothing reads later is in use (as gathered,
//   or in place as stored), and so is the box that it writes, unless the result is a stored tensor.
// - Buffers are in use where something moves. A gather's buffer is in use while the node gathers,
//   but is left out there once a tensor gathered before may be gone; where the operand lives on,
//   also while the node computes. A reduction's buffer is in use until the node has reduced. A copy
//   is in use while its tensor is too only where it moves: else it may be the tensor's own shard.
// Each begins at a multiple of kSlotBytes. Every program of the plan needs all of this, and hardly
// any has more in use. Some rows are missing where the budget was spent before the end.
MemoryRows MemoryRowsOf(const Graph& graph, const Mesh& mesh, const Problem& problem, int64_t limit,
                        const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_MEMORY_ROWS_H_
