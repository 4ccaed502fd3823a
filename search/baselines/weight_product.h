// Products with weights: what Megatron cuts by columns and by rows.
//
// Example: y[b, j] = sum(k) x[b, k] * w[k, j] with a weight w has the inner index k and, of its
// result, the weight's own index j. Cut by columns each device has some j, by rows some k.
#ifndef YUBA_SEARCH_BASELINES_WEIGHT_PRODUCT_H_
#define YUBA_SEARCH_BASELINES_WEIGHT_PRODUCT_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"

namespace yuba::search {

// A sum of products of a weight and an operand that is none.
struct WeightProduct {
  int weight = 0, other = 1;  // operands
  std::vector<int> inner;     // the indices that are summed over
  std::vector<int> outputs;   // the indices of the result that run along the weight alone
  bool convolution = false;
};

// `weights`: [TensorId], as WeightTensors (search/plan/weights.h) has it. Nothing where the node is
// no such product.
absl::optional<WeightProduct> MatchWeightProduct(const std::vector<bool>& weights,
                                                 const Node& node);

// For each node the products that it is; see MatchWeightProduct.
std::vector<absl::optional<WeightProduct>> WeightProducts(const Graph& graph,
                                                          const std::vector<bool>& weights);

// [index]: whether it runs along a dimension that is marked of an operand that is no weight.
// `marks`: [TensorId][dimension], or an empty list where nothing is marked.
std::vector<bool> MarkedIndices(const Node& node, const std::vector<bool>& weights,
                                const std::vector<std::vector<bool>>& marks);
// [dimension]: whether the index that runs along it is marked; of operand `operand`, or of the
// result where that is -1.
std::vector<bool> MarkedDims(const Definition& definition, int operand,
                             const std::vector<bool>& indices);
inline bool Any(const std::vector<bool>& marks) {
  for (const bool mark : marks) {
    if (mark) return true;
  }
  return false;
}

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_WEIGHT_PRODUCT_H_
