// What costs are counted in, and prices on memory: these turn a limit on memory into costs, so that
// a problem with a limit can be bounded like one without (Lagrangian relaxation).
//
// The quantum of cost is a byte moved. Whatever moves costs at least one, and what costs nothing
// moves nothing (IsMoved): so a table of costs also says where a transfer has its buffers.
//
// A price holds at one time of the program. Node i of the graph gathers at time 3i, computes at
// 3i+1 and reduces at 3i+2. With a price of 2048 at time 7, a buffer of 64 bytes that is in use
// then costs 64 * 2048 units, as much as moving 32 bytes.
#ifndef YUBA_SEARCH_PLAN_MEMORY_PRICE_H_
#define YUBA_SEARCH_PLAN_MEMORY_PRICE_H_

#include <algorithm>
#include <cstdint>

namespace yuba::search {

// The cost in units of one byte that is in use at `time`.
struct MemoryPrice {
  int64_t time = 0;
  int64_t price = 0;
};

// How a proof with prices counts: a byte moved costs `units`, and numbers above `most` count as
// `most`, which only lowers the bound.
// The scale of a graph's proofs is PriceScaleOf (price_scale.h); the default caps nothing that can
// be counted.
struct PriceScale {
  int64_t units = 4096;
  int64_t most = 1'000'000'000'000'000'000;
};

// The cost in bytes of a pair of a sharding and a partition that no plan has, in the tables that an
// elimination sums: more than any plan moves of a graph that has such pairs
// (search/rewrite/partials.h).
inline constexpr int64_t kNever = int64_t{1} << 40;

// Whether a use of this cost moves anything, so that its buffers are there.
inline bool IsMoved(int64_t cost) { return cost > 0; }

// A cost in units.
inline int64_t UnitsOf(const PriceScale& scale, int64_t cost) {
  return std::min(cost, scale.most / scale.units) * scale.units;
}

// The cost in units of `bytes` in use at this price, at most `most`.
inline int64_t PricedUse(int64_t bytes, int64_t price, int64_t most) {
  int64_t units = 0;
  return __builtin_mul_overflow(bytes, price, &units) || units > most ? most : units;
}

// Units as bytes, rounded up; 0 where `units` is negative.
inline int64_t BytesOfUnits(const PriceScale& scale, int64_t units) {
  return units <= 0 ? 0 : units / scale.units + (units % scale.units != 0);
}

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_MEMORY_PRICE_H_
