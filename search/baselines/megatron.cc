// Tensor parallelism as Megatron-LM has it (Shoeybi et al., "Megatron-LM: training multi-billion
// parameter language models using model parallelism", 2019), with the sequence parallelism of
// Korthikanti et al. ("Reducing activation recomputation in large transformer models", 2022).
//
// Nodes are taken in the order of the graph. A product with a weight is "row parallel" if its other
// operand is already cut along an index that the product sums over: then the product is cut along
// that index and writes partials. Otherwise it is "column parallel": cut along the weight's own
// dimension, its other operand stored whole. What follows a column parallel product stays cut alike
// until a row parallel one; all other nodes are cut on the batch. Each all-reduce is written as one
// reduce-scatter and one all-gather, which move the same bytes.
#include <algorithm>
#include <utility>

#include "absl/types/optional.h"
#include "opsemantics/regions/along.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"
#include "search/baselines/baselines.h"
#include "search/baselines/batch.h"
#include "search/baselines/steps.h"
#include "search/space/dim_names.h"

namespace yuba::search {
namespace {

// A sum of products of a weight and an operand that is none.
struct WeightProduct {
  int weight = 0, other = 1;  // operands
  std::vector<int> inner;     // the indices that are summed over
  std::vector<int> outputs;   // the indices of the result that run along the weight alone
};

absl::optional<WeightProduct> MatchWeightProduct(const Graph& graph, const Node& node) {
  WeightProduct product;
  if (const auto contraction = MatchContraction(*node.definition)) {
    const bool left = IsStoredBefore(graph.tensors[node.operands[contraction->left]]);
    product.weight = left ? contraction->left : contraction->right;
    product.other = left ? contraction->right : contraction->left;
    product.inner = contraction->inner;
    product.outputs = left ? contraction->rows : contraction->columns;
  } else {
    const auto convolution = MatchConvolution(*node.definition);
    if (!convolution.has_value() || convolution->output != ProductTensor::kResult)
      return absl::nullopt;
    product.weight = OperandOf(*node.definition, convolution->filter);
    product.other = OperandOf(*node.definition, convolution->input);
    product.inner = convolution->inputs;
    product.outputs = convolution->outputs;
  }
  const bool weight = IsStoredBefore(graph.tensors[node.operands[product.weight]]);
  const bool other = IsStoredBefore(graph.tensors[node.operands[product.other]]);
  if (!weight || other) return absl::nullopt;
  return product;
}

class Planner {
 public:
  explicit Planner(const Graph& graph)
      : graph_(graph), restrictions_(OnTheBatch(graph)), along_weight_(graph.tensors.size()) {
    for (size_t t = 0; t < graph.tensors.size(); ++t) {
      const size_t dims = graph.tensors[t].type.dims.size();
      along_weight_[t].assign(dims, false);
      if (IsStoredBefore(graph.tensors[t])) restrictions_[t] = Whole(dims);
    }
  }

  Restrictions Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) Plan(static_cast<int>(n));
    return std::move(restrictions_);
  }

 private:
  // [index]: whether operands are cut already along it.
  std::vector<bool> CutAlready(const Node& node) const {
    std::vector<bool> indices(node.definition->indices.size(), false);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      if (IsStoredBefore(graph_.tensors[node.operands[o]])) continue;
      const std::vector<int> along = IndicesAlong(*node.definition, static_cast<int>(o));
      for (size_t d = 0; d < along.size(); ++d) {
        if (along[d] >= 0 && along_weight_[node.operands[o]][d]) indices[along[d]] = true;
      }
    }
    return indices;
  }

  static bool Any(const std::vector<bool>& indices) {
    return std::find(indices.begin(), indices.end(), true) != indices.end();
  }

  void Plan(int n) {
    const Node& node = graph_.nodes[n];
    std::vector<bool> indices = CutAlready(node);
    if (const auto product = MatchWeightProduct(graph_, node)) {
      std::vector<bool> inner(indices.size(), false);
      for (int index : product->inner) inner[index] = indices[index];
      if (Any(inner)) {
        indices = inner;
      } else if (!Any(indices)) {
        for (int index : product->outputs)
          indices[index] = node.definition->indices[index].extent > 1;
        const TensorId other = node.operands[product->other];
        if (Any(indices)) restrictions_[other] = Whole(graph_.tensors[other].type.dims.size());
      }
    }
    if (!Any(indices)) return;  // on the batch
    restrictions_[graph_.tensors.size() + n] = Along(indices);
    CutWeights(node, indices);
    CutResult(node, indices);
  }

  void CutWeights(const Node& node, const std::vector<bool>& indices) {
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const TensorId operand = node.operands[o];
      if (!IsStoredBefore(graph_.tensors[operand])) continue;
      std::vector<bool> dims;
      for (int index : IndicesAlong(*node.definition, static_cast<int>(o))) {
        dims.push_back(index >= 0 && indices[index]);
      }
      if (Any(dims)) restrictions_[operand] = Along(dims);
    }
  }

  void CutResult(const Node& node, const std::vector<bool>& indices) {
    std::vector<bool> dims;
    for (const Affine& position : node.definition->left) {
      const int index = position.BareIndex();
      dims.push_back(index >= 0 && indices[index]);
    }
    along_weight_[node.result] = dims;
    if (Any(dims)) restrictions_[node.result] = Along(dims);
  }

  const Graph& graph_;
  Restrictions restrictions_;
  // [TensorId][dimension]: whether it is cut along a column parallel weight's own dimension.
  std::vector<std::vector<bool>> along_weight_;
};

}  // namespace

Choices Megatron(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget) {
  return CheapestWithin(graph, mesh, Planner(graph).Run(), table_cells, budget);
}

}  // namespace yuba::search
