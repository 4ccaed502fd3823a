// Nodes follow the cluster that they could be part of. The order puts each node before its reader,
// and other nodes between it and those that compute or read the same; a cluster
// (compiler/cluster) has only neighbours. Here, for GPUs and behind the search, nodes move up to
// join it, or it moves down to them: what both read is read once, and there is one kernel less.
//
// Example: q, k and v are slices of one product. The scores need q and k, and v stands behind their
// softmax; all three become one kernel. What is computed of a sum down columns follows the sum, and
// another sum that reads the same (compiler/cluster/columns.h). No more bytes are live at once than
// before (live_bytes.h).
#ifndef YUBA_COMPILER_ORDER_FOLLOW_H_
#define YUBA_COMPILER_ORDER_FOLLOW_H_

#include <vector>

#include "compiler/cluster/cluster.h"
#include "compiler/model.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// Moves nodes and extends model.clusters, by clusters of which a GPU's kernel computes all. Returns
// the new order: the node that was at [place]. `products` are those that a library computes
// (cluster/products.h), which nothing joins. The graph may have copies and accumulators.
std::vector<NodeId> FollowClusters(const std::vector<Cluster>& products, Model& model,
                                   int64_t fewest_slices = kFewestSlices);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ORDER_FOLLOW_H_
