// Prices on memory, which turn a limit into costs.
#ifndef YUBA_SEARCH_PLAN_MEMORY_PRICE_H_
#define YUBA_SEARCH_PLAN_MEMORY_PRICE_H_

#include <cstddef>
#include <cstdint>

#include "opsemantics/definition/graph.h"

namespace yuba::search {

// What a byte in use at `time` costs, in units of 1/4096 byte moved. Node i of the graph gathers at
// 3i, computes at 3i+1 and reduces at 3i+2.
struct MemoryPrice {
  int64_t time = 0;
  int64_t price = 0;
};
inline constexpr int64_t kPriceUnits = 4096;

// What an elimination counts, in bytes, for a pair of shardings that no plan has: more than any
// plan moves of a graph that has such pairs (search/rewrite/partials.h).
inline constexpr int64_t kNever = int64_t{1} << 40;

// No number of a proof by prices or messages is greater, so that the sum of all stays below 2^62:
// costs that are greater count as this, and make the bound less.
inline int64_t MostInProof(const Graph& graph) {
  size_t numbers = 2 + graph.tensors.size() + graph.nodes.size();
  for (const Node& node : graph.nodes) numbers += 4 * (1 + node.operands.size());
  return (int64_t{1} << 62) / static_cast<int64_t>(numbers);
}

// What so many bytes in use cost in units, at most `most`.
inline int64_t PricedUse(int64_t bytes, int64_t price, int64_t most) {
  int64_t units = 0;
  return __builtin_mul_overflow(bytes, price, &units) || units > most ? most : units;
}

// Units as bytes, a part of a byte as one; none where there are less than none.
inline int64_t BytesOfUnits(int64_t units) {
  return units <= 0 ? 0 : units / kPriceUnits + (units % kPriceUnits != 0);
}

// What is in memory begins at multiples of this: a cache line, and what vector loads and NCCL like.
inline constexpr int64_t kSlotBytes = 64;
inline int64_t Slot(int64_t bytes) { return (bytes + kSlotBytes - 1) / kSlotBytes * kSlotBytes; }

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_MEMORY_PRICE_H_
