// What is in use when, for the checker: prices on memory become costs of single cuts.
#ifndef YUBA_SEARCH_CHECK_MEMORY_H_
#define YUBA_SEARCH_CHECK_MEMORY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "search/check_minimum.h"
#include "search/check_tables.h"
#include "search/memory_price.h"

namespace yuba {

struct PricedMemory {
  std::vector<CheckTable> tables;  // in units
  // What the limit leaves when all use their least, at the prices; the greatest number where that
  // cannot be counted.
  int64_t room = 0;
};

// For each element with a use at a priced time: what its cuts have in use beyond the least of them,
// at the prices (PricedUse). Counted is what every program of a plan has in use: stored tensors
// always; others from their delivery to the last fetch; while a node computes, what it reads for
// the last time, or more than any shard holds, and what it makes; less of it where that is too much
// to be counted. An error where a time or price is negative or too large. Of nodes whose time of
// computing has no price, boxes are not looked at.
absl::StatusOr<PricedMemory> PricedUses(const Graph& graph, const HeldElements& held,
                                        const std::vector<MemoryPrice>& prices, int64_t limit);

// The tables' costs in units; less where one is too large to be counted, as of pairs that no plan
// has, which leaves a bound a bound.
std::vector<CheckTable> InUnits(const Graph& graph, std::vector<CheckTable> tables);

// Whether something at that time has a price.
bool HasPrice(const std::vector<MemoryPrice>& prices, int64_t time);

}  // namespace yuba

#endif  // YUBA_SEARCH_CHECK_MEMORY_H_
