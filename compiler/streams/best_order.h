// The best of several orders.
#ifndef YUBA_COMPILER_STREAMS_BEST_ORDER_H_
#define YUBA_COMPILER_STREAMS_BEST_ORDER_H_

#include <cstdint>
#include <vector>

#include "compiler/streams/exchange_order.h"

namespace yuba::compiler {

// Of OrderItems by several choices the order whose last item ends first by its own estimates.
std::vector<StartedItem> BestOrder(const std::vector<WorkItem>& items, int64_t bytes_ahead);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_STREAMS_BEST_ORDER_H_
