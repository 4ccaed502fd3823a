// Prices on memory, which turn a limit into costs.
#ifndef YUBA_SEARCH_MEMORY_PRICE_H_
#define YUBA_SEARCH_MEMORY_PRICE_H_

#include <cstdint>

namespace yuba {

// What a byte in use at `time` costs, in units of 1/4096 byte moved. Node i of the graph fetches at
// 3i, computes at 3i+1 and delivers at 3i+2.
struct MemoryPrice {
  int64_t time = 0;
  int64_t price = 0;
};
inline constexpr int64_t kPriceUnits = 4096;

// What an elimination counts, in bytes, for a pair of cuts that no plan has: more than any plan
// moves of a graph that has such pairs (search/partials.h).
inline constexpr int64_t kNever = int64_t{1} << 40;

// What one use costs at most beyond the least that it can be, in units: 2^34 bytes moved. Steep
// prices make costs that none can count; a bound stays one where costs are made less.
inline constexpr int64_t kMostPriced = int64_t{1} << 46;
inline int64_t PricedUse(int64_t bytes, int64_t price) {
  int64_t units = 0;
  return __builtin_mul_overflow(bytes, price, &units) || units > kMostPriced ? kMostPriced : units;
}

// What is in memory begins at multiples of this: a cache line, and what vector loads and NCCL like.
inline constexpr int64_t kSlotBytes = 64;
inline int64_t Slot(int64_t bytes) { return (bytes + kSlotBytes - 1) / kSlotBytes * kSlotBytes; }

}  // namespace yuba

#endif  // YUBA_SEARCH_MEMORY_PRICE_H_
