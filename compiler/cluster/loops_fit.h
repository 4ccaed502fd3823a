// What must hold of nodes that share loops: of the loop plan of each, of the indices of two, and of
// what two read of each other.
#ifndef YUBA_COMPILER_CLUSTER_LOOPS_FIT_H_
#define YUBA_COMPILER_CLUSTER_LOOPS_FIT_H_

#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// Whether one function may hold the code of all nodes.
bool FitOneFunction(const std::vector<const Node*>& nodes);

// Whether the reader reads what the writer computes, or both read a tensor of at least as many
// elements as the reader computes. Scalars that many nodes read are no reason to join.
bool HaveInCommon(const Graph& graph, const Node& writer, const Node& reader);

// Whether in both arithmetics the loops over the first `shared` indices are the outermost ones, and
// inside of them elements are computed one by one (no rows of accumulators in memory). A kernel may
// have more definitions inside of these loops then (kernels/loop_builder.h).
bool LoopsFit(const Definition& definition, int shared);

// Whether both begin with `shared` output indices of equal extents.
bool BeginAlike(const Definition& a, const Definition& b, int shared);

// Whether each node reads its own slice (spmd/own_slice.h) of what the other one computes. Of a
// tensor that the later one writes over, the earlier one reads its own slice too.
bool ReadOwnSlices(const Node& a, const Node& b, int shared);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CLUSTER_LOOPS_FIT_H_
