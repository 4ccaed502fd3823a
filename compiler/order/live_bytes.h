// How many bytes of intermediate results an order of a graph's nodes keeps at once: what `order`
// makes small.
//
// Tensors count whole, as if there were one device. A tensor that a node makes and that is no
// output of the graph lives from its producer to its last reader, both included; one that nothing
// reads lives while its producer runs. Inputs, parameters, constants and outputs are stored at all
// times, whatever the order, and count 0. So, where the nodes run as v1, v2, ...,
//
//   live(i) = sum of bytes(t) over the tensors t with producer vp and last reader vr, p <= i <= r
//   peak    = the largest live(i).
//
// Example: a = f(x), b = g(x), y = h(a, b), an output, with 8 bytes for a and 4 for b. While f runs
// 8 bytes are live, while g and h run 12: the peak is 12. Kernels that write in place, shards, and
// what transfers need are not counted (README.md).
#ifndef YUBA_COMPILER_ORDER_LIVE_BYTES_H_
#define YUBA_COMPILER_ORDER_LIVE_BYTES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// Bytes of the tensor where it is made by a node and is no output; 0 otherwise. Cut off where sums
// over the graph could exceed 64 bits.
int64_t LiveBytes(const Graph& graph, TensorId tensor);

// The peak, in bytes, where the nodes run in this order. `graph` must be linked, and `order` has
// each of its nodes once, each after the producers of its operands.
int64_t PeakOfLiveBytes(const Graph& graph, const std::vector<NodeId>& order);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ORDER_LIVE_BYTES_H_
