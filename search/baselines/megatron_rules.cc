#include "search/baselines/megatron_rules.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/regions/along.h"
#include "search/baselines/batch.h"
#include "search/baselines/row_partner.h"
#include "search/baselines/steps.h"
#include "search/baselines/vocabulary.h"
#include "search/baselines/weight_product.h"
#include "search/plan/weights.h"

namespace yuba::search {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, int64_t devices)
      : graph_(graph),
        devices_(devices),
        weights_(WeightTensors(graph)),
        products_(WeightProducts(graph, weights_)),
        vocabulary_(VocabularyOf(graph, weights_)),
        restrictions_(OnTheBatch(graph)),
        marks_(graph.tensors.size()) {
    for (size_t t = 0; t < graph.tensors.size(); ++t) {
      if (IsStoredBefore(graph, static_cast<TensorId>(t))) MakeWhole(static_cast<TensorId>(t));
    }
  }

  void Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) Restrict(static_cast<NodeId>(n));
  }

  Restrictions Take() { return std::move(restrictions_); }

  int64_t Apart() const {
    int64_t least = 0;
    for (size_t t = 0; t < marks_.size(); ++t) {
      int64_t apart = 1;
      bool words = false;
      for (size_t d = 0; d < marks_[t].size(); ++d) {
        const int64_t extent = graph_.tensors[t].type.dims[d];
        if (marks_[t][d]) apart *= extent;
        words |= marks_[t][d] && extent == vocabulary_;
      }
      if (apart > 1 && !words && (least == 0 || apart < least)) least = apart;
    }
    return least;
  }

 private:
  void Restrict(NodeId n) {
    const Node& node = graph_.nodes[n];
    if (weights_[node.result]) return;  // cut as the product that reads it
    std::vector<bool> indices = MarkedIndices(node, weights_, marks_);
    const std::vector<bool> looked_up = VocabularyIndices(*node.definition, vocabulary_);
    if (products_[n].has_value()) {
      indices = OfProduct(n, indices);
    } else if (Any(looked_up)) {
      indices = looked_up;
      for (const TensorId operand : node.operands) GatherInput(operand);
    }
    if (!Any(indices)) return;  // on the batch
    restrictions_[graph_.tensors.size() + n] = Along(indices);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      if (weights_[node.operands[o]])
        CutWeight(node.operands[o], MarkedDims(*node.definition, static_cast<int>(o), indices));
    }
    marks_[node.result] = MarkedDims(*node.definition, -1, indices);
    if (Any(marks_[node.result])) restrictions_[node.result] = Along(marks_[node.result]);
  }

  // [index]: along which the product is cut; `cut`: along which its other operand is cut already.
  std::vector<bool> OfProduct(NodeId n, const std::vector<bool>& cut) {
    const WeightProduct& product = *products_[n];
    const Definition& definition = *graph_.nodes[n].definition;
    const TensorId weight = SourceOf(graph_, graph_.nodes[n].operands[product.weight]);
    const auto known = cut_weights_.find(weight);
    std::vector<bool> indices(cut.size(), false);
    if (known == cut_weights_.end()) {
      indices = OfNewWeight(n, cut);
      cut_weights_[weight] = MarkedDims(definition, product.weight, indices);
    } else {
      // As the first product with this weight has cut it: the backward pass mirrors the forward.
      const std::vector<int> along = IndicesAlong(definition, product.weight);
      for (size_t d = 0; d < along.size(); ++d) {
        if (along[d] >= 0 && known->second[d]) indices[along[d]] = true;
      }
    }
    const auto is_cut = [&](int index) { return indices[index]; };
    if (std::any_of(product.outputs.begin(), product.outputs.end(), is_cut)) {
      MakeWhole(graph_.nodes[n].operands[product.other]);
      GatherInput(graph_.nodes[n].operands[product.other]);
    }
    return indices;
  }

  std::vector<bool> OfNewWeight(NodeId n, const std::vector<bool>& cut) const {
    const WeightProduct& product = *products_[n];
    const std::vector<Index>& all = graph_.nodes[n].definition->indices;
    std::vector<bool> inner(cut.size(), false), words = inner;
    for (const int index : product.inner) inner[index] = cut[index];
    if (Any(inner)) return inner;
    if (Any(cut)) return cut;
    for (const int index : product.outputs) {
      words[index] = vocabulary_ > 1 && all[index].extent == vocabulary_;
    }
    if (Any(words)) return words;
    return HasRowPartner(graph_, products_, n) ? Columns(n) : cut;
  }

  // The first of the indices along which columns are apart that are enough for all devices.
  std::vector<bool> Columns(NodeId n) const {
    const std::vector<Index>& all = graph_.nodes[n].definition->indices;
    std::vector<bool> columns(all.size(), false);
    int64_t parts = 1;
    for (const int index : IndicesWithPartner(graph_, products_, n)) {
      columns[index] = all[index].extent > 1 && parts < devices_;
      if (columns[index]) parts *= all[index].extent;
    }
    return columns;
  }

  void MakeWhole(TensorId id) { restrictions_[id] = Whole(graph_.tensors[id].type.dims.size()); }

  // Every device has all of an input that is read for columns.
  void GatherInput(TensorId operand) {
    const TensorId source = SourceOf(graph_, operand);
    if (graph_.tensors[source].kind != TensorKind::kInput) return;
    MakeWhole(operand);
    MakeWhole(source);
  }

  // Stores the weight so, and what it is computed from.
  void CutWeight(TensorId id, const std::vector<bool>& dims) {
    if (!Any(dims)) return;
    restrictions_[id] = Along(dims);
    const NodeId producer = graph_.tensors[id].producer;
    if (producer < 0 || IsCarried(graph_.tensors[id])) return;
    const Node& node = graph_.nodes[producer];
    std::vector<bool> indices(node.definition->indices.size(), false);
    for (size_t d = 0; d < dims.size(); ++d) {
      const int index = node.definition->left[d].BareIndex();
      if (index >= 0) indices[index] = dims[d];
    }
    restrictions_[graph_.tensors.size() + producer] = Along(indices);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      CutWeight(node.operands[o], MarkedDims(*node.definition, static_cast<int>(o), indices));
    }
  }

  const Graph& graph_;
  const int64_t devices_;
  const std::vector<bool> weights_;                            // [TensorId]
  const std::vector<absl::optional<WeightProduct>> products_;  // [NodeId]
  const int64_t vocabulary_;
  Restrictions restrictions_;
  // Of weights that a product has read: [dimension], whether it is cut.
  std::map<TensorId, std::vector<bool>> cut_weights_;
  // [TensorId][dimension]: whether it is cut along a column parallel weight's own dimension; empty
  // where nothing is.
  std::vector<std::vector<bool>> marks_;
};

}  // namespace

Restrictions CutAsMegatron(const Graph& graph, int64_t devices) {
  Planner planner(graph, devices);
  planner.Run();
  return planner.Take();
}

int64_t PartsApart(const Graph& graph) {
  Planner planner(graph, std::numeric_limits<int64_t>::max());
  planner.Run();
  return planner.Apart();
}

}  // namespace yuba::search
