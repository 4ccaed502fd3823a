// An order of dimensions: for each place in memory, outermost first, which dimension stands there.
// Empty: the dimensions are in their own order, row-major.
//
// Example: a tensor with the dimensions [n, c, h, w] in the order {0, 2, 3, 1} lies in memory as
// [n, h, w, c], channels innermost.
#ifndef YUBA_OPSEMANTICS_BASE_DIM_ORDER_H_
#define YUBA_OPSEMANTICS_BASE_DIM_ORDER_H_

#include <cstddef>
#include <vector>

namespace yuba {

using DimOrder = std::vector<int>;

// Whether it is empty or has each of so many dimensions once.
inline bool IsOrderOf(const DimOrder& order, size_t dims) {
  if (order.empty()) return true;
  std::vector<bool> placed(dims, false);
  for (const int dim : order) {
    if (dim < 0 || dim >= static_cast<int>(dims) || placed[dim]) return false;
    placed[dim] = true;
  }
  return order.size() == dims;
}

// What there is for each dimension, in the order of memory.
template <typename T>
std::vector<T> InOrder(const std::vector<T>& of_dims, const DimOrder& order) {
  if (order.empty()) return of_dims;
  std::vector<T> ordered;
  for (const int dim : order) ordered.push_back(of_dims[dim]);
  return ordered;
}

// And back: what there is for each place in memory, by dimensions.
template <typename T>
std::vector<T> OutOfOrder(const std::vector<T>& ordered, const DimOrder& order) {
  std::vector<T> of_dims = ordered;
  for (size_t place = 0; place < order.size(); ++place) of_dims[order[place]] = ordered[place];
  return of_dims;
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_DIM_ORDER_H_
