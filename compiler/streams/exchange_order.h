// When exchanges begin that have a stream of their own beside the kernels': so that they are over
// when a kernel needs what they bring, and no earlier than memory allows.
//
// Exchanges begin in the order in which their results are needed, earliest deadline first: one that
// brings something late enough that it need not wait in memory for long, one that frees memory as
// soon as it can. Exchanges that can begin together do, as one group of messages, where that saves
// more than it delays: all of them are needed by one kernel, or the bytes of the one that joins
// take little beside the latency that it saves.
//
// Kernels keep their order but for some places: of the next sixteen the one that can begin first
// does, and of several that can at once the one on which the longest chain depends. So of a layer's
// two gradients the one that is to be summed and passed on comes first, and the other one while it
// is.
//
// This is list scheduling with estimated seconds (Graham, "Bounds on Multiprocessing Timing
// Anomalies", 1969): what comes out is an order that is right whatever the seconds are.
//
// Example: kernels k0, k1, k2 of 1 ms each, and gathers g1, g2 of 0.6 ms that k1 and k2 need. The
// program's order is k0 g1 k1 g2 k2, in which no gather overlaps the kernel before it. The new one
// is k0 and g1 at 0 ms, k1 at 1, g2 at 1, k2 at 2: both gathers are hidden.
#ifndef YUBA_COMPILER_STREAMS_EXCHANGE_ORDER_H_
#define YUBA_COMPILER_STREAMS_EXCHANGE_ORDER_H_

#include <cstdint>
#include <vector>

#include "compiler/streams/dependences.h"
#include "compiler/streams/work_items.h"

namespace yuba::compiler {

struct StartedItem {
  int item = 0;
  double begin = 0, end = 0;  // estimated seconds from the entry's begin
  bool joins = false;         // the exchange before it: both are one group of messages
};

// Which choices are best depends on all that is under way: best_order.h tries several.
struct OrderChoice {
  // An exchange that brings something begins at most lead times its own duration before its latest
  // begin: late ones find others in their way, early ones are in the way of others.
  double lead = 1;
  // An exchange is small where its bytes take at most so many times its latency. A small one joins
  // any group, which it delays by no more than it saves, and is in no hurry to free memory.
  double small = 1;
};

// All items, in an order in which each comes after all that it depends on (DependencesOf).
// bytes_ahead: so much memory may be held by exchanges that began before the kernel right in front
// of their reader, and by those that did not begin yet and whose source is ready; about, since what
// counts in the end is the arena. Deterministic.
std::vector<StartedItem> OrderItems(const std::vector<WorkItem>& items, const Dependences& depends,
                                    int64_t bytes_ahead, const OrderChoice& choice);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_STREAMS_EXCHANGE_ORDER_H_
