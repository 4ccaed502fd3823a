// Binding: what the names of a signature are in one use of the operator. In come the shapes of the
// operands and the attributes; out come the values of extents, attributes and lets, the types, and
// the dimensions of operands and outputs. Errors are a user's and underline the description.
//
// Example: x[b, (g ci), h..] on f32[2, 12, 5, 7] with g = 3 gives b = 2, ci = 4, h = {5, 7}; x then
// has the dimensions {2}, {3, 4}, and a pack of {5} and {7}.
#ifndef YUBA_OPSEMANTICS_ELABORATE_BIND_H_
#define YUBA_OPSEMANTICS_ELABORATE_BIND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/elaborate/bound_dim.h"
#include "opsemantics/elaborate/evaluate.h"
#include "opsemantics/elaborate/instance.h"
#include "opsemantics/language/ast.h"

namespace yuba {

struct BoundTensor {
  bool absent = false;  // an opt operand that is not given; reads as `absent_value`
  Term absent_value;
  ElementType type = ElementType::kF32;
  std::vector<BoundDim> dims;
};

struct Binding {
  Names names;                                 // extents, attributes, lets
  std::map<std::string, BoundTensor> tensors;  // operands and outputs
  absl::optional<ElementType> common;          // the type that operands share, where there is one
};

// `operands` and `attributes` as of Elaborate, with one entry for each operand.
absl::StatusOr<Binding> Bind(const OpDescription& op,
                             const std::vector<absl::optional<Shape>>& operands,
                             const Attributes& attributes);

// The operand or output of this name, which stands at `position` among its kind, as a slot; a
// broadcast dimension of 1 has the factors {1}.
Slot SlotOf(const Binding& binding, const std::string& name, SlotRole role, int position);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_BIND_H_
