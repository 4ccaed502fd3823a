#include "compiler/cluster/cluster.h"

#include <algorithm>

#include "compiler/cluster/loops_fit.h"
#include "compiler/kernels/loop_plan.h"
#include "compiler/kernels/threads/thread_plan.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

int Outputs(const Definition& definition) {
  return static_cast<int>(std::count_if(definition.indices.begin(), definition.indices.end(),
                                        [](const Index& index) { return !index.reduction; }));
}

// Whether it calls library functions, of which vectors of elements may be rounded otherwise.
bool CallsLibrary(const Definition& definition) {
  bool calls = false;
  Walk(definition, [&](const Expr& expr) {
    calls |= expr.kind == Expr::kCall && FactsOf(expr.function).library.name != nullptr;
  });
  return calls;
}

// Whether loops remain inside of the first `shared` indices.
bool HasInnerLoops(const Definition& definition, int shared) {
  return std::any_of(definition.indices.begin() + shared, definition.indices.end(),
                     [](const Index& index) { return index.extent != 1; });
}

// Whether elements along the last shared index are next to each other wherever the definition
// touches memory, so that a loop over it is vectorised.
bool IsContiguous(const Definition& definition, int shared) {
  int index = shared - 1;
  while (index > 0 && definition.indices[index].extent == 1) --index;
  const auto along = [&](const std::vector<Affine>& position) {
    for (size_t d = 0; d < position.size(); ++d) {
      const int64_t step = kernels::Coefficient(position[d], index);
      if (step != 0 && (step != 1 || d + 1 < position.size())) return false;
    }
    return true;
  };
  bool contiguous = along(definition.left);
  Walk(definition, [&](const Expr& expr) {
    if (expr.kind == Expr::kRead) contiguous &= along(expr.position) && expr.args.empty();
    if (expr.kind != Expr::kCall || expr.function != Function::kSelect) return;
    // A select on indices becomes a branch.
    contiguous &= !NamesIndex(*expr.args[0]);
  });
  return contiguous;
}

int64_t Slices(const Definition& definition, int shared) {
  int64_t slices = 1;
  for (int index = 0; index < shared; ++index) slices *= definition.indices[index].extent;
  return slices;
}

class Clusters {
 public:
  Clusters(const Graph& graph, int64_t fewest_slices)
      : graph_(graph), fewest_slices_(fewest_slices) {}

  // Of these nodes alone; several clusters, or none, where they do not join.
  std::vector<Cluster> Find(const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes) Add(id);
    Close();
    return std::move(clusters_);
  }

  std::vector<Cluster> Find() {
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) Add(id);
    Close();
    return std::move(clusters_);
  }

 private:
  void Add(NodeId id) {
    if (Join(id)) return;
    Close();
    if (MayBegin(*graph_.nodes[id].definition)) nodes_ = {id};
  }

  const Definition& DefinitionOf(NodeId id) const { return *graph_.nodes[id].definition; }

  void Close() {
    if (nodes_.size() > 1) {
      clusters_.emplace_back();
      clusters_.back().shared = shared_;
      clusters_.back().entry = graph_.nodes[nodes_[0]].entry;
      for (const NodeId id : nodes_) clusters_.back().results.push_back(graph_.nodes[id].result);
      clusters_.back().rows = RowsOfCluster();
    }
    nodes_.clear();
    shared_ = 0;
  }

  Cluster::Rows RowsOfCluster() const {
    bool shares = true, long_rows = false;
    for (const NodeId id : nodes_) {
      shares &= kernels::SharesRows(DefinitionOf(id), shared_);
      long_rows |= kernels::HasFewLongRows(DefinitionOf(id), shared_);
    }
    return !shares ? Cluster::kNone : long_rows ? Cluster::kOnce : Cluster::kTogether;
  }

  static bool MayBegin(const Definition& definition) {
    return !IsOpaque(definition) && !MatchContraction(definition) && !MatchConvolution(definition);
  }

  // Adds the node to the cluster at hand, if it fits. With the second node it is decided how many
  // indices are shared: as many as possible.
  bool Join(NodeId id) {
    if (nodes_.empty()) return false;
    if (graph_.nodes[id].entry != graph_.nodes[nodes_[0]].entry) return false;
    const Definition& next = DefinitionOf(id);
    if (!MayBegin(next) || !Gains(id) || !IsSmall(id)) return false;
    if (nodes_.size() > 1) {
      if (!Fits(id, shared_)) return false;
    } else {
      const Definition& first = DefinitionOf(nodes_[0]);
      shared_ = std::min(Outputs(first), Outputs(next));
      while (shared_ > 0 && !Fits(id, shared_)) --shared_;
      if (shared_ == 0) return false;
    }
    nodes_.push_back(id);
    return true;
  }

  // Whether there is something to gain with one of the others.
  bool Gains(NodeId id) const {
    return std::any_of(nodes_.begin(), nodes_.end(), [&](NodeId other) {
      return HaveInCommon(graph_, graph_.nodes[other], graph_.nodes[id]);
    });
  }

  bool IsSmall(NodeId id) const {
    std::vector<const Node*> all;
    for (const NodeId other : nodes_) all.push_back(&graph_.nodes[other]);
    all.push_back(&graph_.nodes[id]);
    return FitOneFunction(all);
  }

  bool Fits(NodeId id, int shared) const {
    const Node& next = graph_.nodes[id];
    if (shared > Outputs(*next.definition) || !LoopsFit(*next.definition, shared)) return false;
    std::vector<NodeId> all = nodes_;
    all.push_back(id);
    bool loops = false, vectors = false, exact = true;
    for (const NodeId other : all) {
      const Definition& definition = DefinitionOf(other);
      const bool inner = HasInnerLoops(definition, shared);
      loops |= inner;
      exact &= inner || !CallsLibrary(definition);
      vectors |= IsContiguous(definition, shared);
    }
    for (const NodeId other : all) {
      const Definition& definition = DefinitionOf(other);
      if (!loops && vectors != IsContiguous(definition, shared)) return false;
    }
    // An element for each slice is computed alone, not in vectors.
    if (loops && (!exact || Slices(*next.definition, shared) < fewest_slices_)) return false;
    return std::all_of(nodes_.begin(), nodes_.end(), [&](NodeId other) {
      const Node& node = graph_.nodes[other];
      return BeginAlike(*node.definition, *next.definition, shared) &&
             LoopsFit(*node.definition, shared) && ReadOwnSlices(node, next, shared);
    });
  }

  const Graph& graph_;
  const int64_t fewest_slices_;
  std::vector<NodeId> nodes_;  // of the cluster at hand
  int shared_ = 0;             // of it, once it has two nodes
  std::vector<Cluster> clusters_;
};

}  // namespace

void ClusterModel(Model& model, int64_t fewest_slices) {
  model.clusters = Clusters(model.graph, fewest_slices).Find();
}

absl::optional<Cluster> ClusterOf(const Graph& graph, const std::vector<NodeId>& nodes,
                                  int64_t fewest_slices) {
  for (const NodeId id : nodes) {
    const Node& node = graph.nodes[id];
    if (IsCopy(graph, node) || node.definition->partial ||
        !node.definition->partial_operands.empty()) {
      return absl::nullopt;
    }
  }
  const std::vector<Cluster> clusters = Clusters(graph, fewest_slices).Find(nodes);
  if (clusters.size() != 1 || clusters[0].results.size() != nodes.size()) return absl::nullopt;
  return clusters[0];
}

}  // namespace yuba::compiler
