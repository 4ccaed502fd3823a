// Tensor parallelism as Megatron-LM has it (Shoeybi et al., "Megatron-LM: training multi-billion
// parameter language models using model parallelism", 2019), with the sequence parallelism of
// Korthikanti et al. ("Reducing activation recomputation in large transformer models", 2022).
//
// Nodes are taken in the order of the graph. A product with a weight is "row parallel" if its other
// operand is already cut along an index that the product sums over: then the product is cut along
// that index and writes partials. It is "column parallel", cut along the weight's own dimension and
// with its other operand whole, if a row parallel product follows (row_partner.h). What follows a
// column parallel product stays cut alike until the row parallel one. The table of tokens and the
// products that make logits are cut along the vocabulary. All other nodes are cut on the batch, and
// all other weights are whole on every device. Each all-reduce is written as one reduce-scatter and
// one all-gather, which move the same bytes.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/types/optional.h"
#include "opsemantics/regions/along.h"
#include "search/baselines/baselines.h"
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
  explicit Planner(const Graph& graph)
      : graph_(graph),
        weights_(WeightTensors(graph)),
        products_(WeightProducts(graph, weights_)),
        vocabulary_(VocabularyOf(graph, weights_)),
        restrictions_(OnTheBatch(graph)),
        marks_(graph.tensors.size()) {
    for (size_t t = 0; t < graph.tensors.size(); ++t) {
      if (IsStoredBefore(graph, static_cast<TensorId>(t))) MakeWhole(static_cast<TensorId>(t));
    }
  }

  Restrictions Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) Plan(static_cast<NodeId>(n));
    return std::move(restrictions_);
  }

 private:
  void Plan(NodeId n) {
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
    std::vector<bool> inner(cut.size(), false), outputs = inner, words = inner;
    for (const int index : product.inner) inner[index] = cut[index];
    if (Any(inner)) return inner;
    if (Any(cut)) return cut;
    for (const int index : product.outputs) {
      const int64_t extent = graph_.nodes[n].definition->indices[index].extent;
      outputs[index] = extent > 1;
      words[index] = vocabulary_ > 1 && extent == vocabulary_;
    }
    if (Any(words)) return words;
    return Any(outputs) && HasRowPartner(graph_, products_, n) ? outputs : cut;
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

Choices Megatron(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget) {
  return CheapestWithin(graph, mesh, Planner(graph).Run(), table_cells, budget);
}

std::string OfMegatron(const Graph& graph, const Mesh& /*mesh*/, bool /*moves_weights*/) {
  const std::vector<bool> weights = WeightTensors(graph);
  const auto products = WeightProducts(graph, weights);
  int columns = 0, convolutions = 0, rereads = 0;
  std::vector<int> read(graph.tensors.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!products[n].has_value()) continue;
    rereads += ++read[SourceOf(graph, graph.nodes[n].operands[products[n]->weight])] > 3;
    if (!HasRowPartner(graph, products, static_cast<NodeId>(n))) continue;
    ++columns;
    convolutions += products[n]->convolution;
  }
  if (columns == 0) {
    return "no product with a weight has another one behind it that could be row parallel, so "
           "only a vocabulary is cut";
  }
  if (convolutions > 0) {
    return "Megatron-LM has no plan of convolutions: here they alternate as products do";
  }
  if (rereads > 0) {
    return "Megatron-LM has no plan of recurrent layers: here every step cuts the weights as the "
           "first one does";
  }
  return "";
}

}  // namespace yuba::search
