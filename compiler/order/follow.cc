#include "compiler/order/follow.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "absl/types/optional.h"
#include "compiler/cluster/columns.h"
#include "compiler/order/kernel_nodes.h"
#include "compiler/order/order.h"

namespace yuba::compiler {
namespace {

// One entry of a model.
class Follower {
 public:
  Follower(const Model& model, const std::vector<Cluster>& products, int entry,
           int64_t fewest_slices)
      : model_(model),
        fewest_slices_(fewest_slices),
        first_(static_cast<NodeId>(NodesOf(model.graph, entry).begin)),
        part_(GraphOfEntry(model.graph, entry)),
        kernels_(KernelsOfEntry(model, products, entry)),
        precedences_(ReadersBeforeWriters(part_)),
        sequence_(part_, precedences_, kernels_),
        clusters_(kernels_.size()) {
    kernel_of_.resize(part_.nodes.size());
    for (int k = 0; k < static_cast<int>(kernels_.size()); ++k) {
      for (NodeId n = kernels_[k].begin; n < kernels_[k].end; ++n) kernel_of_[n] = k;
      if (kernels_[k].cluster >= 0) clusters_[k] = model.clusters[kernels_[k].cluster];
    }
  }

  void Run() {
    for (int k = 0; k < static_cast<int>(kernels_.size()) && sequence_.MayWork(); ++k) {
      if (!IsWhole(k)) continue;
      for (const int other : Candidates(k)) {
        if (Follow(k, other)) break;
      }
    }
  }

  void AddTo(std::vector<NodeId>& order, std::vector<Cluster>& clusters) const {
    for (const NodeId node : sequence_.Nodes()) order.push_back(first_ + node);
    for (const KernelSequence::Group& group : sequence_.groups()) {
      if (clusters_[group[0]].has_value()) clusters.push_back(*clusters_[group[0]]);
    }
  }

 private:
  // Whether a kernel for GPUs computes all of it, and no library does.
  bool IsWhole(int kernel) const {
    return !kernels_[kernel].product &&
           (!clusters_[kernel].has_value() || clusters_[kernel]->rows == Cluster::kTogether);
  }

  // The first kernels of groups before the kernel that compute or read what it reads, the nearest
  // group first.
  std::vector<int> Candidates(int kernel) const {
    std::set<int, std::greater<int>> groups;
    const auto add = [&](NodeId node) {
      const int group = sequence_.GroupOf(kernel_of_[node]);
      if (group < sequence_.GroupOf(kernel)) groups.insert(group);
    };
    for (NodeId n = kernels_[kernel].begin; n < kernels_[kernel].end; ++n) {
      for (const TensorId operand : part_.nodes[n].operands) {
        const NodeId producer = ProducerFor(part_, operand, n);
        if (producer >= 0) add(producer);
        // Scalars that many nodes read are no reason to join.
        if (ElementCount(part_.tensors[operand].type) == 1) continue;
        for (const NodeId reader : part_.tensors[operand].consumers) add(reader);
      }
    }
    std::vector<int> kernels;
    for (const int group : groups) kernels.push_back(sequence_.groups()[group][0]);
    return kernels;
  }

  // Joins the group of `kernel` to that of `other`, the first kernel of its group: moves it up, or
  // else the other one down, as where an update waits for a reader of its weight that stands
  // between the update and its moments.
  bool Follow(int kernel, int other) {
    const int own = sequence_.GroupOf(kernel), to = sequence_.GroupOf(other);
    const bool up = sequence_.MayMoveUp(own, to), down = sequence_.MayMoveDown(to, own);
    if (!IsWhole(other) || (!up && !down)) return false;
    std::vector<NodeId> nodes;
    for (const int group : {to, own}) {
      for (const NodeId node : sequence_.NodesOfGroup(group)) nodes.push_back(first_ + node);
    }
    absl::optional<Cluster> cluster = ColumnsOf(model_.graph, nodes);
    // Neighbours of other kinds were offered to each other when clusters were found.
    if (!cluster.has_value() && own > to + 1)
      cluster = ClusterOf(model_.graph, nodes, fewest_slices_);
    if (!cluster.has_value() || cluster->rows != Cluster::kTogether) return false;
    const bool joined =
        (up && sequence_.Join(to, own, to)) || (down && sequence_.Join(to, own, own));
    if (joined) clusters_[other] = cluster;
    return joined;
  }

  const Model& model_;
  const int64_t fewest_slices_;
  const NodeId first_;  // of the entry
  const Graph part_;
  const std::vector<KernelNodes> kernels_;
  const std::vector<Precedence> precedences_;
  KernelSequence sequence_;
  std::vector<absl::optional<Cluster>> clusters_;  // [kernel]: of the group that begins with it
  std::vector<int> kernel_of_;                     // [node of the entry]
};

}  // namespace

std::vector<NodeId> FollowClusters(const std::vector<Cluster>& products, Model& model,
                                   int64_t fewest_slices) {
  std::vector<NodeId> order;
  std::vector<Cluster> clusters;
  for (int entry = 0; entry < static_cast<int>(model.graph.entries.size()); ++entry) {
    Follower follower(model, products, entry, fewest_slices);
    follower.Run();
    follower.AddTo(order, clusters);
  }
  model.clusters = std::move(clusters);
  Reorder(order, model);
  return order;
}

}  // namespace yuba::compiler
