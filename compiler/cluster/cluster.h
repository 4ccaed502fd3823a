// The phase `cluster`: which nodes one kernel may compute. A kernel of several nodes runs once
// through the output indices that they share and computes all of them at each value: what one reads
// of another is in a register or in the cache, what several read is read once, and a tensor that
// nothing else reads needs no memory. Nothing is moved and no plan changes: the phase `spmd` makes
// kernels of the clusters, as far as the plan's exchanges allow it.
//
// Example: of an optimizer m[i, j] = 0.9*m[i, j] + g[i, j] and w[i, j] = w[i, j] - 0.1*m[i, j] are
// a cluster that shares i and j. Of a softmax, m[i] = max(j) x[i, j], l[i] = sum(j) exp(x[i, j] -
// m[i]) and y[i, j] = exp(x[i, j] - m[i]) / l[i] are one that shares i, and neither m nor l needs
// memory.
#ifndef YUBA_COMPILER_CLUSTER_CLUSTER_H_
#define YUBA_COMPILER_CLUSTER_CLUSTER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "compiler/model.h"

namespace yuba::compiler {

// Sets model.clusters. The graph's nodes are in the order in which they will run and are not
// copies. Nodes next to each other join where
// - none of them is for a library (a contraction, a convolution, a gradient of one);
// - they begin with output indices of equal extents, whose loops stand outside of all others in
//   each node's loop plan, so that a kernel of all has the loops that each has alone;
// - what one reads of another is its own slice (compiler/spmd/own_slice.h);
// - there is something to gain: one reads another's result, or both read one large tensor;
// - none is vectorised worse than alone, and enough values are shared for all threads.
// It depends on the graph alone: not on names, plans or the machine.
//
// Where loops remain inside of the shared ones, threads share out these alone: so many values of
// the shared indices (`fewest_slices`) are enough for any number of threads a device.
constexpr int64_t kFewestSlices = 64;
void ClusterModel(Model& model, int64_t fewest_slices = kFewestSlices);

// The cluster of all of these nodes, if one after the other would join it as ClusterModel has it;
// else nothing. They are of one entry, and copies, partials and accumulators make none.
absl::optional<Cluster> ClusterOf(const Graph& graph, const std::vector<NodeId>& nodes,
                                  int64_t fewest_slices = kFewestSlices);

// Whether the clusters are possible ones, or those of columns.h: each of several nodes in the
// graph's order, none in two clusters, with shared output indices of equal extents whose loops can
// be shared, and each reading of the others its own slice. Where the graph has copies, accumulators
// and partials by now, they may stand between the nodes. FailedPrecondition, with the node's name,
// where not.
absl::Status CheckClusters(const Graph& graph, const std::vector<Cluster>& clusters);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CLUSTER_CLUSTER_H_
