#include "compiler/cluster/rows.h"

#include <algorithm>

#include "compiler/kernels/threads/thread_plan.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::compiler {
namespace {

const Definition& DefinitionOf(const Model& model, const Cluster& cluster, TensorId result) {
  return *model.graph.nodes[ProducerIn(model.graph, result, cluster.entry)].definition;
}

// With the extents that the largest part of the node has.
Definition OnDevice(const Definition& definition, const Mesh& mesh,
                    const search::Choice& partition) {
  Definition part = definition;
  for (size_t index = 0; index < part.indices.size(); ++index) {
    const int64_t parts = PartCount(mesh, partition.axes[index]);
    part.indices[index].extent = (part.indices[index].extent + parts - 1) / parts;
  }
  return part;
}

bool HasFewLongRows(const Model& model, const search::Plan& plan, const Cluster& cluster) {
  return std::any_of(cluster.results.begin(), cluster.results.end(), [&](TensorId result) {
    const NodeId node = ProducerIn(model.graph, result, cluster.entry);
    const Definition part =
        OnDevice(*model.graph.nodes[node].definition, plan.mesh, plan.nodes[node]);
    return kernels::HasFewLongRows(part, cluster.shared);
  });
}

// The nodes of each piece, of which the first alone has loops inside of the shared ones.
std::vector<Cluster> Pieces(const Model& model, const Cluster& cluster) {
  std::vector<Cluster> pieces;
  Cluster piece = cluster;
  piece.results.clear();
  const auto finish = [&] {
    if (piece.results.size() > 1) pieces.push_back(piece);
    piece.results.clear();
  };
  for (const TensorId result : cluster.results) {
    const Definition& definition = DefinitionOf(model, cluster, result);
    if (static_cast<int>(definition.indices.size()) > cluster.shared) finish();
    piece.results.push_back(result);
  }
  finish();
  return pieces;
}

}  // namespace

std::vector<Cluster> ClustersOfRows(const Model& model, const search::Plan& plan) {
  std::vector<Cluster> rows;
  for (const Cluster& cluster : model.clusters) {
    if (cluster.rows == Cluster::kNone) continue;
    if (cluster.rows == Cluster::kTogether && !HasFewLongRows(model, plan, cluster)) {
      rows.push_back(cluster);
      continue;
    }
    for (Cluster& piece : Pieces(model, cluster)) rows.push_back(std::move(piece));
  }
  return rows;
}

}  // namespace yuba::compiler
