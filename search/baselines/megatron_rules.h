// Which indices, dimensions and weights Megatron-LM cuts.
//
// Nodes are taken in the order of the graph. A product with a weight is "row parallel" if its other
// operand is already cut along an index that the product sums over: then the product is cut along
// that index and writes partials. It is "column parallel", cut along the weight's own dimension and
// with its other operand whole, if a row parallel product follows (row_partner.h). What follows a
// column parallel product stays cut alike until the row parallel one. The table of tokens and the
// products that make logits are cut along the vocabulary. All other nodes are cut on the batch, and
// all other weights are whole on every device.
//
// Example: of the weights of a block, the products in front of attention and in front of the
// activation are cut by columns, those behind them by rows, norms not at all.
#ifndef YUBA_SEARCH_BASELINES_MEGATRON_RULES_H_
#define YUBA_SEARCH_BASELINES_MEGATRON_RULES_H_

#include <cstdint>

#include "opsemantics/definition/graph.h"
#include "search/space/restriction.h"

namespace yuba::search {

// What may be cut where, [element]. Of columns that have several factors, as (heads, width of one),
// the first are cut that are enough for so many devices.
Restrictions CutAsMegatron(const Graph& graph, int64_t devices);

// How many columns, or heads, are apart wherever column parallel products lead: into so many parts
// these can be cut as published. 0 where there is no such product.
int64_t PartsApart(const Graph& graph);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_MEGATRON_RULES_H_
