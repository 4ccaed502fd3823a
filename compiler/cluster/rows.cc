#include "compiler/cluster/rows.h"

#include <algorithm>

#include "compiler/kernels/threads/thread_plan.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::compiler {
namespace {

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

}  // namespace

void MarkFewRows(const search::Plan& plan, Model& model) {
  const auto definition_of = [&](const Cluster& cluster, TensorId result) -> const Definition& {
    return *model.graph.nodes[ProducerIn(model.graph, result, cluster.entry)].definition;
  };
  const auto is_few = [&](const Cluster& cluster) {
    // Of columns all sums may have parts (columns.h).
    if (kernels::SumsDownColumns(definition_of(cluster, cluster.results[0]))) return false;
    return std::any_of(cluster.results.begin(), cluster.results.end(), [&](TensorId result) {
      const NodeId node = ProducerIn(model.graph, result, cluster.entry);
      const Definition part = OnDevice(definition_of(cluster, result), plan.mesh, plan.nodes[node]);
      return kernels::HasFewLongRows(part, cluster.shared);
    });
  };
  for (Cluster& cluster : model.clusters) {
    if (cluster.rows == Cluster::kTogether && is_few(cluster)) cluster.rows = Cluster::kOnce;
  }
}

}  // namespace yuba::compiler
