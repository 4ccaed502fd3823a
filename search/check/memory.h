// What is in use when, for the checker: prices on memory become costs of choices, alone and in
// pairs.
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
  // In units, of one element, or of a node and a tensor that it reads or makes.
  std::vector<CheckTable> tables;
  // What the limit leaves when all use their least, at the prices; the greatest number where that
  // cannot be counted.
  int64_t room = 0;
};

// For each element with a use at a priced time: what its choices have in use beyond the least of
// them, at the prices (PricedUse). Counted is what every program of a plan has in use:
// - stored tensors always; others from their reduction to the last gather;
// - while a node computes, what it makes and what it reads for the last time;
// - where bytes move, what they arrive in, or are sent from: for a node, while it gathers (until
//   the first tensor that may be gone by then has been gathered), and while it computes what it
//   reads not for the last time; for a result, until it is reduced; for a copy, as long as what
//   it is copied from (also where a copy were cut in another way than its node, as in no plan).
// Less of it where that is too much to be counted. `costs`: of each node's result, then of its
// operands, in bytes moved, [node cut][tensor cut]. An error where a time or price is negative or
// too large. Boxes are looked at where ReadBoxes.
absl::StatusOr<PricedMemory> PricedUses(
    const Graph& graph, const HeldElements& held,
    const std::vector<std::shared_ptr<const std::vector<int64_t>>>& costs,
    const std::vector<MemoryPrice>& prices, int64_t limit);

// Of nodes that gather, compute or reduce at a price, and of copies.
bool ReadBoxes(const Graph& graph, NodeId node, const std::vector<MemoryPrice>& prices);

// The costs of uses, as above.
template <typename Use>
std::vector<std::shared_ptr<const std::vector<int64_t>>> CostsOf(const std::vector<Use>& uses) {
  std::vector<std::shared_ptr<const std::vector<int64_t>>> costs;
  for (const Use& use : uses) costs.push_back(use.cost);
  return costs;
}

// The tables' costs in units; less where one is too large to be counted, as of pairs that no plan
// has, which leaves a bound a bound.
std::vector<CheckTable> InUnits(const Graph& graph, std::vector<CheckTable> tables);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_MEMORY_H_
