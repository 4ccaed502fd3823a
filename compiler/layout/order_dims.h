// Graphs, definitions and plans with the flat dimensions of tensors in other orders.
#ifndef YUBA_COMPILER_LAYOUT_ORDER_DIMS_H_
#define YUBA_COMPILER_LAYOUT_ORDER_DIMS_H_

#include <vector>

#include "compiler/layout/layouts.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

// Puts the flat dimensions of operands and result into other orders, the output indices into that
// of the result, and the indices of a sum into that of the largest operand that changes, so that
// loops run through memory. orders: [operand], with one more entry behind the operands for the
// result. Returns for each index which one it was. The definition is not opaque: its function sees
// slices as they lie.
//
// Example: y[n, c, p] = x[n, c, p] with the order {0, 2, 1} of both is y[n, p, c] = x[n, p, c], and
// with that of y alone y[n, p, c] = x[n, c, p].
std::vector<int> OrderDims(const std::vector<DimOrder>& orders, Definition& definition);

// Puts the tensors' flat dimensions into `orders`, with the definitions of the graph and the plan's
// shardings and partitions. Tensors and nodes keep their numbers. No tensor of an opaque definition
// changes, and a copy or an accumulator has the order of what it is made of. Of a tensor that
// changes `dims` are the flat dimensions, without names. The graph is linked.
Layouts OrderTensors(const DimOrders& orders, Graph& graph, search::Plan& plan);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_LAYOUT_ORDER_DIMS_H_
