// Which tensors should have their channels innermost in memory. Libraries of GPUs compute
// convolutions of small floats on tensor cores, which want that, and else copy operands and results
// to it and back. So what a convolution reads or computes asks for it, and what maps, pools or
// normalises such a tensor lies alike: dimensions are reordered only where that ends.
#ifndef YUBA_COMPILER_LAYOUT_CHANNELS_H_
#define YUBA_COMPILER_LAYOUT_CHANNELS_H_

#include <set>

#include "compiler/layout/layouts.h"
#include "opsemantics/base/element_type.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// The orders that convolutions of these types of operands, and their gradients, ask for, spread
// over all tensors that lie alike. A convolution with input [n, c, h, w], filter [o, c, u, v] and
// output [n, o, p, q] asks for [n, h, w, c], [o, u, v, c] and [n, p, q, o]; which dimensions are
// channels follows from its structure (opsemantics/regions/convolution.h). Of tensors that are
// asked for two orders, the one for more elements counts. Two tensors lie alike where a node that
// is no convolution reads one to compute the other, both have as many dimensions, and what indices
// they have in common, two at least or all that one has, stand at the same dimensions. Not there:
// tensors of which only dimensions of extent 1 would move.
DimOrders ChannelOrders(const Graph& graph, const std::set<ElementType>& types);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_LAYOUT_CHANNELS_H_
