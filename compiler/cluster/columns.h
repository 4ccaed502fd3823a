// Clusters of sums down columns, for GPUs alone. Of s[c] = sum(n) x[n, c] neighbouring threads add
// up neighbouring c, and one of them has each whole sum in the end, or a second launch has it
// (compiler/kernels/threads): what is computed of s[c] and has an element for each column can
// follow there, and another sum in the same turns can be added up beside it.
//
// Example: the gradients of a norm's bias and scale, b[c] = sum(n) dy[n, c] and s[c] = sum(n) dy[n,
// c] * x[n, c], with their updates m[c] = 0.9*m[c] + b[c], ... are one kernel that reads dy once.
//
// On processors accumulators of a row are in memory, so that these share no loops (cluster.h).
#ifndef YUBA_COMPILER_CLUSTER_COLUMNS_H_
#define YUBA_COMPILER_CLUSTER_COLUMNS_H_

#include <vector>

#include "absl/types/optional.h"
#include "compiler/model.h"

namespace yuba::compiler {

// The cluster of all of these nodes, which are of one entry and in the graph's order, where
// - the first is a sum down columns, and the others are such sums or maps, all of the same columns;
// - each sum reads nothing that another node computes, has the same turns as the first one, and
//   reads an element of one of its tensors in each;
// - each map reads what one of the others computes, or a tensor that one reads;
// - none is a copy, partial or accumulator, and one function may hold them.
// Else nothing.
absl::optional<Cluster> ColumnsOf(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CLUSTER_COLUMNS_H_
