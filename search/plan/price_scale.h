// How large the numbers of a graph's proofs may be, so that all sums fit 64 bits.
#ifndef YUBA_SEARCH_PLAN_PRICE_SCALE_H_
#define YUBA_SEARCH_PLAN_PRICE_SCALE_H_

#include <cstdint>

#include "opsemantics/definition/graph.h"
#include "search/plan/memory_price.h"

namespace yuba::search {

// The greatest number that a proof by prices or messages may hold, so that the sum of all its
// numbers stays below 2^62. Greater costs count as this one, which only lowers the bound.
int64_t MostInProof(const Graph& graph);

// The most bytes that one use of the tensor moves in one run: all of it into each device, and once
// more into each owner.
double MostMovedByUse(const Tensor& tensor, int devices);

// The scale of proofs about this graph on so many devices: MostInProof, and as many units a byte as
// let the dearest use of a tensor count in full, at most 4096, a power of two. Example: a graph
// whose proofs may hold numbers up to 5.8e13 and whose dearest use moves 51 GB gets 1024 units.
PriceScale PriceScaleOf(const Graph& graph, int devices);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_PRICE_SCALE_H_
