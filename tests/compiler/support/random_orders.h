// Orders in memory at random, of every tensor that may have one.
#ifndef YUBA_TESTS_COMPILER_SUPPORT_RANDOM_ORDERS_H_
#define YUBA_TESTS_COMPILER_SUPPORT_RANDOM_ORDERS_H_

#include "compiler/layout/layouts.h"
#include "opsemantics/definition/graph.h"
#include "tests/compiler/support/small_graphs.h"

namespace yuba::compiler {

// An order for each tensor of two dimensions and more, ports and states too, that no opaque
// definition reads or computes. Copies and accumulators have the order of what they are made of.
DimOrders RandomOrders(const Graph& graph, Random& random);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_SUPPORT_RANDOM_ORDERS_H_
