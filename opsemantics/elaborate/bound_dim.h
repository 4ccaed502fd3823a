// A dimension of an operand or output in one use of the operator. Example: on f32[12, 5, 7] with
// g = 3 the dimensions of x[(g ci), h..] are one of the factors {3, 4}, and a pack of {5} and {7}.
#ifndef YUBA_OPSEMANTICS_ELABORATE_BOUND_DIM_H_
#define YUBA_OPSEMANTICS_ELABORATE_BOUND_DIM_H_

#include <cstdint>
#include <vector>

namespace yuba {

// One dimension of the tensor: one element of a dimension as written.
struct BoundElement {
  std::vector<int64_t> factors;  // a single one where it is not written as factors
  bool one = false;              // a `~` dimension of extent 1, which is always read at 0
  bool missing = false;          // a `~` dimension that the operand does not have
};

// A dimension as written, which may be a pack of several dimensions of the tensor.
struct BoundDim {
  bool pack = false;
  bool factored = false;
  std::vector<BoundElement> elements;  // a single one where it is no pack
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_BOUND_DIM_H_
