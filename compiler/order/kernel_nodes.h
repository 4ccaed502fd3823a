// A graph as the kernels that its nodes become, one after the other: what moves as a whole where
// kernels of GPUs are brought together (gather.h, follow.h).
#ifndef YUBA_COMPILER_ORDER_KERNEL_NODES_H_
#define YUBA_COMPILER_ORDER_KERNEL_NODES_H_

#include <cstdint>
#include <vector>

#include "compiler/model.h"
#include "compiler/order/depth_first.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// Nodes next to each other that one kernel may compute, and that stay next to each other.
struct KernelNodes {
  NodeId begin = 0, end = 0;
  // Kernels with equal numbers other than 0 may be sections beside each other (spmd/own_slice.h):
  // 1 where threads compute elements, larger ones for rows that are alike.
  int beside = 0;
  int cluster = -1;      // the position in Model::clusters, or -1
  bool product = false;  // a library may compute them in one call
};

// The kernels of an entry of model.graph, whose nodes are numbered from its first one. Nodes of
// model.clusters, and of `products` (cluster/products.h), are one kernel.
std::vector<KernelNodes> KernelsOfEntry(const Model& model, const std::vector<Cluster>& products,
                                        int entry);

// Kernels in groups, each of which is to become one kernel; at first each is one.
class KernelSequence {
 public:
  using Group = std::vector<int>;  // kernels, in their order

  // `kernels` have each node of `graph`, which is linked and of one entry, once and in its order,
  // and keep its order and the precedences. All outlive this.
  KernelSequence(const Graph& graph, const std::vector<Precedence>& precedences,
                 const std::vector<KernelNodes>& kernels);

  const std::vector<Group>& groups() const { return groups_; }
  int GroupOf(int kernel) const { return place_[kernel]; }
  // The nodes of all groups, or of one, in their order.
  std::vector<NodeId> Nodes() const { return NodesOf(groups_); }
  std::vector<NodeId> NodesOfGroup(int group) const { return NodesOf({groups_[group]}); }

  // Whether group `from` can be computed right behind group `to` before it, or right before the
  // group `to` behind it.
  bool MayMoveUp(int from, int to) const;
  bool MayMoveDown(int from, int to) const;
  // Makes one group of two, the kernels of `first` first, at the place of one of them, where not
  // more bytes are live at once than in the order that the kernels had (live_bytes.h), neither node
  // by node nor where all that a kernel reads and writes is live at once.
  bool Join(int first, int second, int at);
  // Whether there is work left: looking what is live is bounded, so that large graphs do not take
  // long.
  bool MayWork() const { return work_ > 0; }

 private:
  void Number();
  std::vector<NodeId> NodesOf(const std::vector<Group>& groups) const;
  int64_t PeakOfKernels(const std::vector<Group>& groups) const;
  template <typename Holds>
  bool All(const Group& group, const std::vector<std::vector<int>>& edges, Holds holds) const;

  const Graph& graph_;
  const std::vector<KernelNodes>& kernels_;
  std::vector<std::vector<int>> before_, after_;  // [kernel]: which must run before it, after it
  std::vector<Group> groups_;
  std::vector<int> place_;              // [kernel]: of its group
  int64_t peak_ = 0, kernel_peak_ = 0;  // of the order that the kernels had
  int64_t work_ = 0;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ORDER_KERNEL_NODES_H_
