// How a program adds up many partials: a few at a time, so that the first need not be held until
// the last are there.
//
// Example: a recurrence of 20 steps uses its weight 20 times, so its gradient is an accumulator of
// 20 partials (search/rewrite/accumulators.h), each as large as the weight's shard or larger. The
// first four become one as soon as they are there, then three more are added to that, and so on:
// five are live at most.
#ifndef YUBA_OPSEMANTICS_DEFINITION_SHORT_SUMS_H_
#define YUBA_OPSEMANTICS_DEFINITION_SHORT_SUMS_H_

#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba {

// Whether the node is an accumulator of more terms than are added up at once.
bool IsLongSum(const Node& node);

// The terms of such a node, each once, in the order in which they are computed: four, then three at
// a time. Each group but the last is added, with what has been added before, as soon as its last
// term is there; the last group by the accumulator. The graph must be linked.
std::vector<std::vector<TensorId>> TermsInGroups(const Graph& graph, const Node& sum);

// [tensor]: the node behind which the tensor is added up as part of a long sum, and gone; -1 for
// all other tensors, and for the first term of each sum, which stands for what has been added.
std::vector<NodeId> AddedBehind(const Graph& graph);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_SHORT_SUMS_H_
