// Which products with weights Megatron cuts by columns: those that a row parallel one follows.
//
// Example: of up and down in x + down(gelu(up(norm(x)))), up is cut by columns, since gelu keeps
// each column by itself and down sums over them. The convolution that makes x of patches is not:
// the first thing behind it that keeps to a column is no product, and the norm in front of every
// product looks at all columns of an element.
#ifndef YUBA_SEARCH_BASELINES_ROW_PARTNER_H_
#define YUBA_SEARCH_BASELINES_ROW_PARTNER_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "search/baselines/weight_product.h"

namespace yuba::search {

// Whether a product with a weight sums over what the product `column` makes of its weight's own
// dimension. In between each column stays by itself: no other product with a weight, and nothing
// that was computed of several columns; nor does a product before that one read anything which was.
// Heads count as columns; within a head anything goes.
// `products`: [NodeId], those of WeightProducts.
bool HasRowPartner(const Graph& graph, const std::vector<absl::optional<WeightProduct>>& products,
                   NodeId column);

// Those of the product's own indices along which columns stay by themselves up to that product, of
// a product that has one; all where none does alone. Example: of a product that makes queries, keys
// and values of 12 heads of 64 columns at once, (3 12 64), the 12.
std::vector<int> IndicesWithPartner(const Graph& graph,
                                    const std::vector<absl::optional<WeightProduct>>& products,
                                    NodeId column);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_ROW_PARTNER_H_
