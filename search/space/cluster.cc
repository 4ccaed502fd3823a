#include "search/space/cluster.h"

#include <algorithm>
#include <numeric>

#include "absl/types/optional.h"
#include "opsemantics/base/check.h"
#include "opsemantics/regions/along.h"
#include "opsemantics/regions/value_tables.h"

namespace yuba::search {
namespace {

class Merging {
 public:
  Merging(const Graph& graph, const std::vector<bool>& pinned)
      : graph_(graph), tensors_(static_cast<int>(graph.tensors.size())) {
    size_t elements = graph.tensors.size() + graph.nodes.size();
    clusters_.representative.resize(elements);
    std::iota(clusters_.representative.begin(), clusters_.representative.end(), 0);
    for (const Tensor& tensor : graph.tensors) AddDims(tensor.type.dims.size());
    for (const Node& node : graph.nodes) AddDims(node.definition->indices.size());
    free_ = std::vector<bool>(elements, true);
    for (size_t e = 0; e < elements; ++e) free_[e] = !pinned[e];
  }

  Clusters Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) PartialsIntoSum(static_cast<int>(n));
    for (size_t n = 0; n < graph_.nodes.size(); ++n) MapIntoResult(static_cast<int>(n));
    for (int t = 0; t < tensors_; ++t) TensorIntoReader(t);
    for (int t = 0; t < tensors_; ++t) ResultIntoMap(t);
    return std::move(clusters_);
  }

 private:
  void AddDims(size_t count) {
    std::vector<int> identity(count);
    std::iota(identity.begin(), identity.end(), 0);
    clusters_.dims.push_back(identity);
  }

  bool IsAlignedMap(const Node& node) const {
    return node.definition->reducer == Reducer::kNone &&
           Alignment(*node.definition, -1).has_value();
  }

  // Also where the partials are pinned: by definition they have the sharding of their accumulator.
  // Its last index, which numbers the groups, belongs to no dimension of theirs.
  void PartialsIntoSum(int n) {
    if (!IsAccumulator(graph_.nodes[n])) return;
    for (TensorId partials : graph_.nodes[n].operands) {
      std::vector<int> dims(graph_.tensors[partials].type.dims.size());
      std::iota(dims.begin(), dims.end(), 0);
      Merge(partials, tensors_ + n, dims);
    }
  }

  void MapIntoResult(int n) {
    const Node& node = graph_.nodes[n];
    if (!free_[tensors_ + n] || node.operands.size() != 1 || !IsAlignedMap(node)) return;
    if (!Alignment(*node.definition, 0).has_value()) return;
    // Invert: the index along each dimension becomes the dimension along each index.
    std::vector<int> along = *Alignment(*node.definition, -1);
    std::vector<int> dims(node.definition->indices.size(), -1);
    for (size_t d = 0; d < along.size(); ++d) {
      if (along[d] >= 0) dims[along[d]] = static_cast<int>(d);
    }
    Merge(tensors_ + n, node.result, dims);
  }

  void TensorIntoReader(int t) {
    const Tensor& tensor = graph_.tensors[t];
    if (!free_[t] || tensor.consumers.size() != 1) return;
    int n = tensor.consumers[0];
    const Node& node = graph_.nodes[n];
    // A stored tensor must be cut as far as it can be, a copy and its node need not be.
    if (!IsAlignedMap(node) || PartialsAreWider(tensor) || IsCopy(graph_, node)) return;
    size_t operand =
        std::find(node.operands.begin(), node.operands.end(), t) - node.operands.begin();
    absl::optional<std::vector<int>> along = Alignment(*node.definition, static_cast<int>(operand));
    if (along.has_value()) Merge(t, tensors_ + n, *along);
  }

  void ResultIntoMap(int t) {
    const Tensor& tensor = graph_.tensors[t];
    if (!free_[t] || tensor.producer < 0 || tensor.consumers.size() > 1) return;
    const Node& node = graph_.nodes[tensor.producer];
    if (!IsAlignedMap(node)) return;
    Merge(t, tensors_ + tensor.producer, *Alignment(*node.definition, -1));
  }

  // Partials move in the accumulator's type. Where that is wider than the tensor's, it can be
  // cheaper to store the sum first and move it then, so that the triangle inequality does not hold.
  bool PartialsAreWider(const Tensor& tensor) const {
    return tensor.producer >= 0 &&
           graph_.nodes[tensor.producer].definition->reducer != Reducer::kNone &&
           AccumulatorType(tensor.type.type) != tensor.type.type;
  }

  // `dims`: [dimension of `element`], the dimension of `into` that is cut with it, or -1. `into`
  // may itself have been merged.
  void Merge(int element, int into, const std::vector<int>& dims) {
    int representative = clusters_.representative[into];
    if (representative == element) return;
    for (size_t d = 0; d < dims.size(); ++d) {
      clusters_.dims[element][d] = dims[d] < 0 ? -1 : clusters_.dims[into][dims[d]];
    }
    clusters_.representative[element] = representative;
    clusters_.merged.push_back(element);
    free_[element] = free_[into] = free_[representative] = false;
  }

  const Graph& graph_;
  const int tensors_;
  std::vector<bool> free_;
  Clusters clusters_;
};

}  // namespace

absl::optional<std::vector<int>> Alignment(const Definition& definition, int operand) {
  bool read = operand < 0, narrowed = false;
  if (operand >= 0) {
    narrowed = NamesIndex(*definition.body);  // a condition on indices may narrow the reads
    Walk(definition.body,
         [&](const Expr& expr) { read |= expr.kind == Expr::kRead && expr.operand == operand; });
  }
  // What is known of a condition on data narrows them too.
  narrowed |= operand >= 0 && !KnownConditions(definition).empty();
  if (!read || narrowed) return absl::nullopt;
  const std::vector<int64_t>& dims =
      operand < 0 ? definition.result.dims : definition.operands[operand].dims;
  std::vector<int> aligned = IndicesAlong(definition, operand);
  std::vector<bool> used(definition.indices.size(), false);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) {
      aligned[d] = -1;
      continue;
    }
    const int index = aligned[d];
    if (index < 0 || used[index] || definition.indices[index].extent != dims[d]) {
      return absl::nullopt;
    }
    used[index] = true;
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i] && definition.indices[i].extent > 1) return absl::nullopt;
  }
  return aligned;
}

Clusters MakeClusters(const Graph& graph, const std::vector<bool>& pinned) {
  return Merging(graph, pinned).Run();
}

}  // namespace yuba::search
