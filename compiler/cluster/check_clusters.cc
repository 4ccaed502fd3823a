// What must hold after the phase `cluster`: CheckClusters and CheckProducts of cluster.h.
#include <algorithm>
#include <vector>

#include "compiler/cluster/cluster.h"
#include "compiler/cluster/columns.h"
#include "compiler/cluster/loops_fit.h"
#include "compiler/cluster/products.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

// The nodes of the cluster; an error where they are not in the graph's order, or before `next`.
absl::StatusOr<std::vector<const Node*>> NodesOf(const Graph& graph, const Cluster& cluster,
                                                 NodeId next) {
  std::vector<const Node*> nodes;
  for (const TensorId result : cluster.results) {
    const bool there = result >= 0 && result < static_cast<TensorId>(graph.tensors.size());
    const NodeId id = there ? ProducerIn(graph, result, cluster.entry) : -1;
    if (id < next) {
      return ProofError("the clusters are not in the order of the nodes, or a node is in two");
    }
    nodes.push_back(&graph.nodes[id]);
    next = id + 1;
  }
  return nodes;
}

// Nodes that read or compute partials never share a kernel, whatever cluster they are in.
bool IsWhole(const Node& node) {
  return !node.definition->partial && node.definition->partial_operands.empty();
}

absl::Status CheckCluster(const std::vector<const Node*>& nodes, int shared) {
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = *nodes[n];
    if (!IsWhole(node)) continue;
    if (!BeginAlike(*node.definition, *node.definition, shared) ||
        !LoopsFit(*node.definition, shared)) {
      return ProofError("the loops of ", node.name, " over its first ", shared,
                        " indices cannot be shared");
    }
    for (size_t m = 0; m < n; ++m) {
      const Node& other = *nodes[m];
      if (!IsWhole(other)) continue;
      if (!BeginAlike(*other.definition, *node.definition, shared)) {
        return ProofError(other.name, " and ", node.name, " do not share their first ", shared,
                          " indices");
      }
      if (!ReadOwnSlices(other, node, shared)) {
        return ProofError(other.name, " and ", node.name,
                          " cannot be in one cluster: one reads more than its own slice of what ",
                          "the other one computes");
      }
    }
  }
  return absl::OkStatus();
}

// After copies were added to the graph a node may read a copy of what the node before it computes.
absl::Status CheckProduct(const std::vector<const Node*>& nodes, int shared) {
  const Definition& first = *nodes[0]->definition;
  if (!IsWhole(*nodes[0])) return absl::OkStatus();
  if (!BeginAlike(first, first, shared) || !IsProduct(first)) {
    return ProofError(nodes[0]->name, " is no product with ", shared, " output indices");
  }
  for (size_t n = 1; n < nodes.size(); ++n) {
    const std::vector<TensorId>& operands = nodes[n]->operands;
    const bool reads =
        std::find(operands.begin(), operands.end(), nodes[n - 1]->result) != operands.end();
    if (reads && IsWhole(*nodes[n]) && !IsPostOpOf(*nodes[n - 1], *nodes[n])) {
      return ProofError(nodes[n]->name, " is no post-op of ", nodes[n - 1]->name);
    }
  }
  return absl::OkStatus();
}

// Whether it is a cluster for GPUs alone that is right.
bool IsOfColumns(const Graph& graph, const std::vector<const Node*>& nodes,
                 const Cluster& cluster) {
  std::vector<NodeId> ids;
  for (const Node* node : nodes) ids.push_back(static_cast<NodeId>(node - graph.nodes.data()));
  return ColumnsOf(graph, ids) == cluster;
}

// Calls check(nodes, shared) for each of the clusters.
template <typename Check>
absl::Status CheckEach(const Graph& graph, const std::vector<Cluster>& clusters,
                       const Check& check) {
  NodeId next = 0;  // the first node that may be in a cluster
  for (const Cluster& cluster : clusters) {
    if (cluster.shared < 1 || cluster.results.size() < 2) {
      return ProofError("a cluster of ", cluster.results.size(), " nodes that share ",
                        cluster.shared, " indices");
    }
    YUBA_ASSIGN_OR_RETURN(const std::vector<const Node*> nodes, NodesOf(graph, cluster, next));
    if (!IsOfColumns(graph, nodes, cluster)) {
      YUBA_RETURN_IF_ERROR(check(nodes, cluster.shared));
    }
    next = static_cast<NodeId>(nodes.back() - graph.nodes.data()) + 1;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckClusters(const Graph& graph, const std::vector<Cluster>& clusters) {
  return CheckEach(graph, clusters, CheckCluster);
}

absl::Status CheckProducts(const Graph& graph, const std::vector<Cluster>& products) {
  return CheckEach(graph, products, CheckProduct);
}

}  // namespace yuba::compiler
