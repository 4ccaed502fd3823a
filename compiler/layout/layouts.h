// How tensors lie in memory: the order of their flat dimensions. A graph says nothing of memory,
// and everything behind the search takes the flat dimensions of a tensor as they lie there,
// outermost first. So another layout is another order of a tensor's dimensions, in the tensor and
// in all definitions that read or compute it, and nothing else of the compiler or the runtime knows
// of layouts but what passes the ports: there, values are in the order that users know.
//
// Example: x: f32[n, c, h, w] with the order {0, 2, 3, 1} has the flat dimensions [n, h, w, c];
// y[n, c] = sum(h, w) x[n, c, h, w] is y[n, c] = sum(h, w) x[n, h, w, c].
#ifndef YUBA_COMPILER_LAYOUT_LAYOUTS_H_
#define YUBA_COMPILER_LAYOUT_LAYOUTS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "opsemantics/base/dim_order.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// The tensors that are not row-major to their users: in which order their flat dimensions lie.
using DimOrders = std::map<TensorId, DimOrder>;

// Such a tensor once its dimensions are in that order, as its user knows it.
struct TensorLayout {
  DimOrder order;
  std::vector<int64_t> shape;  // WholeDims before
  friend bool operator==(const TensorLayout& a, const TensorLayout& b) {
    return a.order == b.order && a.shape == b.shape;
  }
};
using Layouts = std::map<TensorId, TensorLayout>;

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_LAYOUT_LAYOUTS_H_
