#include "compiler/order/gather.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/order/live_bytes.h"
#include "compiler/spmd/own_slice.h"
#include "opsemantics/base/check.h"

namespace yuba::compiler {
namespace {

// What is spent on one graph, in nodes of which it is counted what is live.
constexpr int64_t kWork = 50'000'000;
// Kernels farther away from each other are not brought together.
constexpr int kFarthest = 1000;

class Gatherer {
 public:
  Gatherer(const Graph& graph, const std::vector<Precedence>& precedences,
           const std::vector<KernelNodes>& kernels)
      : graph_(graph), kernels_(kernels), before_(kernels.size()), after_(kernels.size()) {
    std::vector<int> kernel_of(graph.nodes.size());
    for (size_t k = 0; k < kernels.size(); ++k) {
      for (NodeId n = kernels[k].begin; n < kernels[k].end; ++n) kernel_of[n] = static_cast<int>(k);
      sequence_.push_back({static_cast<int>(k)});
    }
    const auto add = [&](NodeId before, NodeId after) {
      if (kernel_of[before] == kernel_of[after]) return;
      before_[kernel_of[after]].push_back(kernel_of[before]);
      after_[kernel_of[before]].push_back(kernel_of[after]);
    };
    for (NodeId n = 0; n < static_cast<NodeId>(graph.nodes.size()); ++n) {
      for (const TensorId operand : graph.nodes[n].operands) {
        const NodeId producer = ProducerFor(graph, operand, n);
        if (producer >= 0) add(producer, n);
      }
    }
    for (const Precedence& edge : precedences) add(edge.before, edge.after);
    Number();
    peak_ = PeakOfLiveBytes(graph, NodesOf(sequence_));
  }

  std::vector<NodeId> Run() && {
    for (size_t k = 0; k < kernels_.size() && work_ > 0; ++k) {
      if (kernels_[k].of_elements) Bring(static_cast<int>(k));
    }
    return NodesOf(sequence_);
  }

 private:
  // Kernels that are to be one, in the order of their nodes; others are alone.
  using Group = std::vector<int>;

  void Number() {
    place_.resize(kernels_.size());
    for (size_t at = 0; at < sequence_.size(); ++at) {
      for (const int kernel : sequence_[at]) place_[kernel] = static_cast<int>(at);
    }
  }

  std::vector<NodeId> NodesOf(const std::vector<Group>& sequence) const {
    std::vector<NodeId> nodes;
    for (const Group& group : sequence) {
      for (const int kernel : group) {
        for (NodeId n = kernels_[kernel].begin; n < kernels_[kernel].end; ++n) nodes.push_back(n);
      }
    }
    return nodes;
  }

  // Puts the kernel's group beside the nearest one before it that it may stand beside, if there is
  // one.
  void Bring(int kernel) {
    const int own = place_[kernel];
    for (int other = own - 1; other >= 0 && own - other <= kFarthest && work_ > 0; --other) {
      const bool fits = kernels_[sequence_[other][0]].of_elements &&
                        sequence_[other].size() + sequence_[own].size() <= kMostSections;
      if (!fits) continue;
      if (MayMoveUp(own, other) && Join(other, own, other)) return;
      if (MayMoveDown(other, own) && Join(other, own, own)) return;
    }
  }

  // Whether the group at `from` can stand beside the one at `to`, before it.
  bool MayMoveUp(int from, int to) const {
    return All(sequence_[from], before_, [&](int place) { return place < to; });
  }
  bool MayMoveDown(int from, int to) const {
    return All(sequence_[from], after_, [&](int place) { return place > to; });
  }

  template <typename Holds>
  bool All(const Group& group, const std::vector<std::vector<int>>& edges, Holds holds) const {
    return std::all_of(group.begin(), group.end(), [&](int kernel) {
      return std::all_of(edges[kernel].begin(), edges[kernel].end(),
                         [&](int other) { return holds(place_[other]); });
    });
  }

  // Makes one group of two, at the place of one of them, unless more bytes would be live then.
  bool Join(int first, int second, int at) {
    std::vector<Group> joined = sequence_;
    joined[at] = sequence_[first];
    joined[at].insert(joined[at].end(), sequence_[second].begin(), sequence_[second].end());
    joined.erase(joined.begin() + (at == first ? second : first));
    work_ -= static_cast<int64_t>(graph_.nodes.size());
    if (PeakOfLiveBytes(graph_, NodesOf(joined)) > peak_) return false;
    sequence_ = std::move(joined);
    Number();
    return true;
  }

  const Graph& graph_;
  const std::vector<KernelNodes>& kernels_;
  std::vector<std::vector<int>> before_, after_;  // [kernel]: which must run before it, after it
  std::vector<Group> sequence_;
  std::vector<int> place_;  // [kernel]: in `sequence_`
  int64_t peak_ = 0;
  int64_t work_ = kWork;
};

// [operand]: whether the node reads the next value of a carried tensor.
std::vector<bool> NextValuesRead(const Graph& graph, NodeId node) {
  std::vector<bool> next;
  for (const TensorId operand : graph.nodes[node].operands) {
    const Tensor& tensor = graph.tensors[operand];
    next.push_back(IsCarried(tensor) && ProducerFor(graph, operand, node) >= 0);
  }
  return next;
}

// [node]: the cluster or product that it is in, as a number; -1: none.
std::vector<int> NumbersOfClusters(const Graph& graph, const std::vector<Cluster>& clusters) {
  std::vector<int> numbers(graph.nodes.size(), -1);
  for (size_t c = 0; c < clusters.size(); ++c) {
    for (const TensorId result : clusters[c].results) {
      const NodeId node = ProducerIn(graph, result, clusters[c].entry);
      if (node >= 0) numbers[node] = static_cast<int>(c);
    }
  }
  return numbers;
}

// The kernels of an entry whose nodes are `nodes`, numbered from its first one.
std::vector<KernelNodes> KernelsOf(const Model& model, const std::vector<Cluster>& products,
                                   Interval nodes) {
  const Graph& graph = model.graph;
  const std::vector<int> clusters = NumbersOfClusters(graph, model.clusters);
  const std::vector<int> calls = NumbersOfClusters(graph, products);
  std::vector<KernelNodes> kernels;
  for (int64_t n = nodes.begin; n < nodes.end; ++n) {
    const auto local = static_cast<NodeId>(n - nodes.begin);
    const auto with_last = [&](const std::vector<int>& numbers) {
      return n > nodes.begin && numbers[n] >= 0 && numbers[n] == numbers[n - 1];
    };
    if (with_last(clusters) || with_last(calls)) {
      ++kernels.back().end;
    } else {
      kernels.push_back({local, local + 1, true});
    }
    const int shared = clusters[n] >= 0 ? model.clusters[clusters[n]].shared : 0;
    kernels.back().of_elements &= !IsCopy(graph, graph.nodes[n]) && calls[n] < 0 &&
                                  IsOfElements(*graph.nodes[n].definition, shared);
  }
  return kernels;
}

}  // namespace

std::vector<NodeId> Gathered(const Graph& graph, const std::vector<Precedence>& precedences,
                             const std::vector<KernelNodes>& kernels) {
  return Gatherer(graph, precedences, kernels).Run();
}

std::vector<NodeId> GatheredOrder(const Model& model, const std::vector<Cluster>& products) {
  std::vector<NodeId> order;
  for (int entry = 0; entry < static_cast<int>(model.graph.entries.size()); ++entry) {
    const Graph part = GraphOfEntry(model.graph, entry);
    const Interval nodes = NodesOf(model.graph, entry);
    for (const NodeId node :
         Gathered(part, ReadersBeforeWriters(part), KernelsOf(model, products, nodes)))
      order.push_back(static_cast<NodeId>(nodes.begin) + node);
  }
  return order;
}

void Reorder(const std::vector<NodeId>& order, Model& model) {
  Graph& graph = model.graph;
  std::vector<Node> nodes;
  std::vector<std::vector<bool>> read;  // [node in the new order], as NextValuesRead
  for (const NodeId node : order) {
    read.push_back(NextValuesRead(graph, node));
    nodes.push_back(std::move(graph.nodes[node]));
  }
  graph.nodes = std::move(nodes);
  Link(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    YUBA_CHECK(NextValuesRead(graph, static_cast<NodeId>(n)) == read[n])
        << graph.nodes[n].name << " reads another value of a state than before it was moved";
  }
  const auto first = [&](const Cluster& cluster) {
    return ProducerIn(graph, cluster.results[0], cluster.entry);
  };
  std::sort(model.clusters.begin(), model.clusters.end(),
            [&](const Cluster& a, const Cluster& b) { return first(a) < first(b); });
}

}  // namespace yuba::compiler
