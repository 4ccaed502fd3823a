// The elements of a tensor that are somewhere, as disjoint boxes.
#ifndef YUBA_COMPILER_VERIFY_BOX_UNION_H_
#define YUBA_COMPILER_VERIFY_BOX_UNION_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/box.h"

namespace yuba::compiler {

class BoxUnion {
 public:
  void Add(const Box& box);
  bool Touches(const Box& box) const;
  // A part of the box that is not in the union; none if all of it is.
  absl::optional<Box> Missing(const Box& box) const;

 private:
  std::vector<Box> boxes_;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_BOX_UNION_H_
