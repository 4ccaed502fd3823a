#include "compiler/layout/channels_last.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/cluster/cluster.h"
#include "compiler/layout/channels.h"
#include "compiler/layout/order_dims.h"
#include "compiler/layout/reorders.h"

namespace yuba::compiler {
namespace {

// [cluster]: its nodes.
using ClusterNodes = std::vector<std::vector<NodeId>>;

ClusterNodes NodesOfClusters(const Model& model) {
  ClusterNodes nodes;
  for (const Cluster& cluster : model.clusters) {
    nodes.emplace_back();
    for (const TensorId result : cluster.results)
      nodes.back().push_back(ProducerIn(model.graph, result, cluster.entry));
  }
  return nodes;
}

// The nodes in as few clusters as they make, one after the other; those that join none are left
// out.
void AddClusters(const Graph& graph, const std::vector<NodeId>& nodes,
                 std::vector<Cluster>& clusters) {
  for (size_t begin = 0; begin < nodes.size();) {
    absl::optional<Cluster> longest;
    size_t end = begin + 1;
    for (; end < nodes.size(); ++end) {
      absl::optional<Cluster> longer =
          ClusterOf(graph, {nodes.begin() + static_cast<std::ptrdiff_t>(begin),
                            nodes.begin() + static_cast<std::ptrdiff_t>(end) + 1});
      if (!longer.has_value()) break;
      longest = std::move(longer);
    }
    if (longest.has_value()) clusters.push_back(*std::move(longest));
    begin = end;
  }
}

// Makes the clusters anew of which a node has changed, of the nodes that they had.
void FollowLayouts(const DimOrders& orders, const ClusterNodes& nodes, Model& model) {
  const auto changes = [&](NodeId id) {
    const Node& node = model.graph.nodes[id];
    const auto ordered = [&](TensorId tensor) { return orders.count(tensor) > 0; };
    return ordered(node.result) || std::any_of(node.operands.begin(), node.operands.end(), ordered);
  };
  std::vector<Cluster> clusters;
  for (size_t c = 0; c < nodes.size(); ++c) {
    if (std::none_of(nodes[c].begin(), nodes[c].end(), changes))
      clusters.push_back(model.clusters[c]);
    else
      AddClusters(model.graph, nodes[c], clusters);
  }
  model.clusters = std::move(clusters);
}

}  // namespace

Layouts OrderTensors(const DimOrders& orders, Model& model, search::Plan& plan) {
  const ClusterNodes nodes = NodesOfClusters(model);
  Layouts layouts = OrderTensors(orders, model.graph, plan);
  FollowLayouts(orders, nodes, model);
  return layouts;
}

Layouts PutChannelsLast(const std::set<ElementType>& types, Model& model, search::Plan& plan) {
  DimOrders orders = ChannelOrders(model.graph, types);
  if (orders.empty()) return {};
  ClusterNodes nodes = NodesOfClusters(model);
  const std::vector<NodeId> numbers = AddReorders(model.graph, plan, orders);
  for (std::vector<NodeId>& of_cluster : nodes) {
    for (NodeId& node : of_cluster) node = numbers[node];
  }
  Layouts layouts = OrderTensors(orders, model.graph, plan);
  FollowLayouts(orders, nodes, model);
  return layouts;
}

}  // namespace yuba::compiler
