// Prices on memory: they turn a limit on memory into costs, so that a problem with a limit can be
// bounded like one without (Lagrangian relaxation).
//
// A price holds at one time of the program. Node i of the graph gathers at time 3i, computes at
// 3i+1 and reduces at 3i+2. With a price of 2048 at time 7, a buffer of 64 bytes that is in use
// then costs 64 * 2048 units, as much as moving 32 bytes.
#ifndef YUBA_SEARCH_PLAN_MEMORY_PRICE_H_
#define YUBA_SEARCH_PLAN_MEMORY_PRICE_H_

#include <cstddef>
#include <cstdint>

#include "opsemantics/definition/graph.h"

namespace yuba::search {

// The cost in units of one byte that is in use at `time`. A unit is 1 / kPriceUnits of a byte
// moved.
struct MemoryPrice {
  int64_t time = 0;
  int64_t price = 0;
};
inline constexpr int64_t kPriceUnits = 4096;

// The cost in bytes of a pair of a sharding and a partition that no plan has, in the tables that an
// elimination sums: more than any plan moves of a graph that has such pairs
// (search/rewrite/partials.h).
inline constexpr int64_t kNever = int64_t{1} << 40;

// The greatest number that a proof by prices or messages may hold, so that the sum of all its
// numbers stays below 2^62. Greater costs count as this one, which only lowers the bound.
inline int64_t MostInProof(const Graph& graph) {
  size_t numbers = 2 + graph.tensors.size() + graph.nodes.size();
  for (const Node& node : graph.nodes) numbers += 4 * (1 + node.operands.size());
  return (int64_t{1} << 62) / static_cast<int64_t>(numbers);
}

// The cost in units of `bytes` in use at this price, at most `most`.
inline int64_t PricedUse(int64_t bytes, int64_t price, int64_t most) {
  int64_t units = 0;
  return __builtin_mul_overflow(bytes, price, &units) || units > most ? most : units;
}

// Units as bytes, rounded up; 0 where `units` is negative.
inline int64_t BytesOfUnits(int64_t units) {
  return units <= 0 ? 0 : units / kPriceUnits + (units % kPriceUnits != 0);
}

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_MEMORY_PRICE_H_
