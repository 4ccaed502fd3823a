// A set of elements of one tensor, kept as disjoint boxes: what a device has of it, say.
// Example: after Add([0, 4) x [0, 8)) and Add([2, 6) x [0, 8)), Missing([0, 8) x [0, 8)) is
// [6, 8) x [0, 8).
#ifndef YUBA_COMPILER_VERIFY_BOX_UNION_H_
#define YUBA_COMPILER_VERIFY_BOX_UNION_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/box.h"

namespace yuba::compiler {

class BoxUnion {
 public:
  // Boxes have the tensor's rank and may be empty; what is added may overlap what is there.
  void Add(const Box& box);
  // Whether the set and `box` have an element in common.
  bool Touches(const Box& box) const;
  // A box of elements of `box` that are not in the set; nothing where all of them are.
  absl::optional<Box> Missing(const Box& box) const;

 private:
  std::vector<Box> boxes_;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_BOX_UNION_H_
