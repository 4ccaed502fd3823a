#include "search/baselines/weight_product.h"

#include "opsemantics/regions/along.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"

namespace yuba::search {

absl::optional<WeightProduct> MatchWeightProduct(const std::vector<bool>& weights,
                                                 const Node& node) {
  WeightProduct product;
  if (const auto contraction = MatchContraction(*node.definition)) {
    const bool left = weights[node.operands[contraction->left]];
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
    product.convolution = true;
  }
  if (!weights[node.operands[product.weight]] || weights[node.operands[product.other]]) {
    return absl::nullopt;
  }
  return product;
}

std::vector<absl::optional<WeightProduct>> WeightProducts(const Graph& graph,
                                                          const std::vector<bool>& weights) {
  std::vector<absl::optional<WeightProduct>> products;
  for (const Node& node : graph.nodes) products.push_back(MatchWeightProduct(weights, node));
  return products;
}

std::vector<bool> MarkedIndices(const Node& node, const std::vector<bool>& weights,
                                const std::vector<std::vector<bool>>& marks) {
  std::vector<bool> indices(node.definition->indices.size(), false);
  for (size_t o = 0; o < node.operands.size(); ++o) {
    const std::vector<bool>& dims = marks[node.operands[o]];
    if (weights[node.operands[o]] || !Any(dims)) continue;
    const std::vector<int> along = IndicesAlong(*node.definition, static_cast<int>(o));
    for (size_t d = 0; d < along.size(); ++d) {
      if (along[d] >= 0 && dims[d]) indices[along[d]] = true;
    }
  }
  return indices;
}

std::vector<bool> MarkedDims(const Definition& definition, int operand,
                             const std::vector<bool>& indices) {
  std::vector<bool> dims;
  for (const int index : IndicesAlong(definition, operand)) {
    dims.push_back(index >= 0 && indices[index]);
  }
  return dims;
}

}  // namespace yuba::search
