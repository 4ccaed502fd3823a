// Memory in a proof: prices on bytes in use become costs of choices, of single elements and of
// pairs, so that elimination and dual can be replayed as without a limit.
//
// Example: a tensor uses 256 bytes whole and 64 cut in 4, and a price of 2 units (PriceScale) holds
// at a time at which it is there. It then costs 384 units whole and 0 cut in 4; its least, 64
// bytes, is taken off the limit.
#ifndef YUBA_SEARCH_CHECK_MEMORY_H_
#define YUBA_SEARCH_CHECK_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "search/check/minimum.h"
#include "search/check/tables.h"
#include "search/plan/memory_price.h"

namespace yuba::search {

struct PricedMemory {
  // Costs in units: over one element, or over a node and a tensor that it reads or writes.
  std::vector<CheckTable> tables;
  // The sum over the prices of price times what the limit leaves when all use their least, in
  // units; the greatest number where that cannot be counted.
  int64_t room = 0;
};

// The priced memory of plans within `limit` bytes a device. A choice costs what it has in use
// beyond the least of its element's choices, at the prices of the times at which it is there
// (PricedUse). Counted is what every program of a plan has in use:
// - stored tensors always; others from their reduction to the last gather from them;
// - while a node computes, what it writes and what it reads for the last time;
// - buffers, where bytes move. For an operand: while it is gathered, unless a tensor that may be
//   gone by then was gathered before; and while the node computes, unless it reads it for the last
//   time. For a result: until it is reduced. For a copy: as long as its source is there (counted
//   also for a copy that is cut in another way than its node, which no plan has).
// Numbers too large to be counted count as MostInProof, which makes the bound less.
// `held`: by choice, or by grid. `costs`: of each node's result, then of its operands, in bytes
// moved, [node choice][tensor choice]. An error where a time or price is negative or too large.
// Boxes in `held` are looked at only for nodes of which ReadBoxes says so.
absl::StatusOr<PricedMemory> PricedUses(
    const Graph& graph, const HeldElements& held,
    const std::vector<std::shared_ptr<const std::vector<int64_t>>>& costs,
    const std::vector<MemoryPrice>& prices, int64_t limit);

// Whether the node is a copy's, or gathers, computes or reduces at a time that has a price.
bool ReadBoxes(const Graph& graph, NodeId node, const std::vector<MemoryPrice>& prices);

// The cost tables of uses, as PricedUses takes them.
template <typename Use>
std::vector<std::shared_ptr<const std::vector<int64_t>>> CostsOf(const std::vector<Use>& uses) {
  std::vector<std::shared_ptr<const std::vector<int64_t>>> costs;
  for (const Use& use : uses) costs.push_back(use.cost);
  return costs;
}

// The tables with their costs in units instead of bytes. Costs too large to be counted, as those of
// pairs that no plan has, count as less, which leaves a bound a bound.
std::vector<CheckTable> InUnits(const PriceScale& scale, std::vector<CheckTable> tables);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_MEMORY_H_
