#include "compiler/order/kernel_nodes.h"

#include <algorithm>
#include <utility>

#include "compiler/order/live_bytes.h"
#include "compiler/spmd/own_slice.h"

namespace yuba::compiler {
namespace {

// What is spent on one graph, in nodes of which it is counted what is live.
constexpr int64_t kWork = 50'000'000;

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

// [node]: nodes next to each other with one number other than -1 are one kernel: of a product, or
// else of a cluster. What is in both is the product's.
std::vector<int> NumbersOfKernels(const std::vector<int>& clusters,
                                  const std::vector<int>& products) {
  std::vector<int> numbers;
  for (size_t node = 0; node < clusters.size(); ++node) {
    numbers.push_back(products[node] >= 0   ? 2 * products[node]
                      : clusters[node] >= 0 ? 2 * clusters[node] + 1
                                            : -1);
  }
  return numbers;
}

// Numbers of kernels as KernelNodes::beside.
class Besides {
 public:
  explicit Besides(const Model& model)
      : model_(model), clusters_(NumbersOfClusters(model.graph, model.clusters)) {}

  // Of the nodes [begin, end) of the model's graph.
  int NumberOf(NodeId begin, NodeId end) {
    const int cluster = clusters_[begin];
    const int shared = cluster >= 0 ? model_.clusters[cluster].shared : 0;
    std::vector<const Definition*> definitions;
    for (NodeId n = begin; n < end; ++n) {
      if (IsCopy(model_.graph, model_.graph.nodes[n])) return 0;
      definitions.push_back(model_.graph.nodes[n].definition.get());
    }
    const bool of_elements = std::all_of(
        definitions.begin(), definitions.end(),
        [&](const Definition* definition) { return IsOfElements(*definition, shared); });
    if (of_elements) return 1;
    const bool rows = cluster >= 0 && model_.clusters[cluster].rows == Cluster::kTogether &&
                      IsOfRows(definitions, shared);
    return rows ? NumberOfRows(definitions) : 0;
  }

 private:
  int NumberOfRows(const std::vector<const Definition*>& definitions) {
    const auto alike = [&](const std::vector<const Definition*>& known) {
      return std::equal(known.begin(), known.end(), definitions.begin(), definitions.end(),
                        [](const Definition* a, const Definition* b) { return *a == *b; });
    };
    const auto known = std::find_if(rows_.begin(), rows_.end(), alike);
    const int number = 2 + static_cast<int>(known - rows_.begin());
    if (known == rows_.end()) rows_.push_back(definitions);
    return number;
  }

  const Model& model_;
  const std::vector<int> clusters_;
  std::vector<std::vector<const Definition*>> rows_;
};

}  // namespace

std::vector<KernelNodes> KernelsOfEntry(const Model& model, const std::vector<Cluster>& products,
                                        int entry) {
  const Graph& graph = model.graph;
  const Interval nodes = NodesOf(graph, entry);
  const std::vector<int> clusters = NumbersOfClusters(graph, model.clusters);
  const std::vector<int> calls = NumbersOfClusters(graph, products);
  const std::vector<int> numbers = NumbersOfKernels(clusters, calls);
  std::vector<int64_t> last_of(model.clusters.size(), -1);  // [cluster]: its last node
  for (int64_t n = nodes.begin; n < nodes.end; ++n) {
    if (clusters[n] >= 0) last_of[clusters[n]] = n;
  }
  std::vector<KernelNodes> kernels;
  for (int64_t n = nodes.begin; n < nodes.end; ++n) {
    const auto local = static_cast<NodeId>(n - nodes.begin);
    if (n == nodes.begin || numbers[n] < 0 || numbers[n] != numbers[n - 1]) {
      kernels.emplace_back();
      kernels.back().begin = local;
    }
    KernelNodes& kernel = kernels.back();
    kernel.end = local + 1;
    kernel.product |= calls[n] >= 0;
    // A cluster that goes on behind a product is that of the kernel there.
    if (clusters[n] >= 0 && (!kernel.product || last_of[clusters[n]] == n))
      kernel.cluster = clusters[n];
  }
  Besides besides(model);
  for (KernelNodes& kernel : kernels) {
    const auto first = static_cast<NodeId>(nodes.begin);
    if (!kernel.product) kernel.beside = besides.NumberOf(first + kernel.begin, first + kernel.end);
  }
  return kernels;
}

KernelSequence::KernelSequence(const Graph& graph, const std::vector<Precedence>& precedences,
                               const std::vector<KernelNodes>& kernels)
    : graph_(graph),
      kernels_(kernels),
      before_(kernels.size()),
      after_(kernels.size()),
      work_(kWork) {
  std::vector<int> kernel_of(graph.nodes.size());
  for (int k = 0; k < static_cast<int>(kernels.size()); ++k) {
    for (NodeId n = kernels[k].begin; n < kernels[k].end; ++n) kernel_of[n] = k;
    groups_.push_back({k});
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
  peak_ = PeakOfLiveBytes(graph, Nodes());
  kernel_peak_ = PeakOfKernels(groups_);
}

void KernelSequence::Number() {
  place_.resize(kernels_.size());
  for (size_t at = 0; at < groups_.size(); ++at) {
    for (const int kernel : groups_[at]) place_[kernel] = static_cast<int>(at);
  }
}

std::vector<NodeId> KernelSequence::NodesOf(const std::vector<Group>& groups) const {
  std::vector<NodeId> nodes;
  for (const Group& group : groups) {
    for (const int kernel : group) {
      for (NodeId n = kernels_[kernel].begin; n < kernels_[kernel].end; ++n) nodes.push_back(n);
    }
  }
  return nodes;
}

template <typename Holds>
bool KernelSequence::All(const Group& group, const std::vector<std::vector<int>>& edges,
                         Holds holds) const {
  return std::all_of(group.begin(), group.end(), [&](int kernel) {
    return std::all_of(edges[kernel].begin(), edges[kernel].end(),
                       [&](int other) { return holds(place_[other]); });
  });
}

bool KernelSequence::MayMoveUp(int from, int to) const {
  return All(groups_[from], before_, [&](int place) { return place <= to || place == from; });
}

bool KernelSequence::MayMoveDown(int from, int to) const {
  return All(groups_[from], after_, [&](int place) { return place >= to || place == from; });
}

// The peak where all that a kernel reads and writes is live at once.
int64_t KernelSequence::PeakOfKernels(const std::vector<Group>& groups) const {
  std::vector<size_t> waiting;  // [tensor]: readers that have not run
  for (const Tensor& tensor : graph_.tensors) waiting.push_back(tensor.consumers.size());
  int64_t live = 0, peak = 0;
  for (const Group& group : groups) {
    const std::vector<NodeId> nodes = NodesOf({group});
    int64_t unread = 0;
    for (const NodeId node : nodes) {
      const TensorId result = graph_.nodes[node].result;
      (waiting[result] > 0 ? live : unread) += LiveBytes(graph_, result);
    }
    peak = std::max(peak, live + unread);
    for (const NodeId node : nodes) {
      for (const TensorId operand : graph_.nodes[node].operands) {
        if (--waiting[operand] == 0) live -= LiveBytes(graph_, operand);
      }
    }
  }
  return peak;
}

bool KernelSequence::Join(int first, int second, int at) {
  std::vector<Group> joined = groups_;
  joined[at] = groups_[first];
  joined[at].insert(joined[at].end(), groups_[second].begin(), groups_[second].end());
  joined.erase(joined.begin() + (at == first ? second : first));
  work_ -= static_cast<int64_t>(graph_.nodes.size());
  if (PeakOfLiveBytes(graph_, NodesOf(joined)) > peak_ || PeakOfKernels(joined) > kernel_peak_)
    return false;
  groups_ = std::move(joined);
  Number();
  return true;
}

}  // namespace yuba::compiler
