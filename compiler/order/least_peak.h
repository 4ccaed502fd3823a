// The order of a segment with the least peak of live bytes: a search over the sets of steps that
// can have run, smaller sets first, of which each size keeps the most promising ones.
//
// What happens after a set of steps depends on the set alone, not on their order; of all orders of
// one set only that with the lowest peak goes on. Sets are ranked by their peak so far, and where
// these are equal by the bytes that are live after them. Where no set had to be dropped, all
// orders have been considered (Liu's and Kahn's bottleneck on the lattice of downsets), and the
// result is the least peak there is.
//
// A step that leaves no more bytes live than it found, at no higher peak than has been reached or
// cannot be avoided, runs at once and alone: in any order that goes on from here, moving it to the
// front raises nothing, since it frees later at most what it frees now, and its result is read
// later in either case.
#ifndef YUBA_COMPILER_ORDER_LEAST_PEAK_H_
#define YUBA_COMPILER_ORDER_LEAST_PEAK_H_

#include <cstdint>
#include <vector>

#include "compiler/order/steps.h"

namespace yuba::compiler {

struct PeakGoal {
  int64_t floor = 0;  // bytes: a lower peak than this is worth nothing
  int64_t below = 0;  // bytes: only orders with a lower peak are looked for
  size_t width = 1;   // sets that are kept of each size; 1: always the next best step
};

struct FoundOrder {
  std::vector<int> order;  // of the segment's steps; empty: none was found
  int64_t peak = 0;        // at least goal.floor
  bool complete = false;   // no order below goal.below has a lower peak than this one, or none
                           // exists where none was found
};

// Searches. `work` is what may still be spent, counted in words of memory touched, about a
// nanosecond each; it is reduced by what was. Where it does not suffice nothing is found.
FoundOrder LeastPeak(const Segment& segment, const PeakGoal& goal, int64_t& work);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ORDER_LEAST_PEAK_H_
