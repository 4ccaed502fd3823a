// Binding: what the names of a signature are in one use of it: extents, attributes, lets, types,
// and the dimensions of operands and outputs.
#ifndef YUBA_OPSEMANTICS_ELABORATE_BIND_H_
#define YUBA_OPSEMANTICS_ELABORATE_BIND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/elaborate/elaborate.h"
#include "opsemantics/elaborate/evaluate.h"

namespace yuba {

// One element of a dimension as written: one dimension of the tensor.
struct BoundElement {
  std::vector<int64_t> factors;  // one where it is not written as factors
  bool one = false;              // a `~` dimension that is 1 and read at 0 always
  bool missing = false;          // a `~` dimension that the operand does not have
};

// A dimension as written, which may be a pack.
struct BoundDim {
  bool pack = false;
  bool factored = false;
  std::vector<BoundElement> elements;  // one where it is no pack
};

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

absl::StatusOr<Binding> Bind(const OpDescription& op,
                             const std::vector<absl::optional<Shape>>& operands,
                             const Attributes& attributes);

// The factors of each dimension that the tensor has, as Slot::dims.
std::vector<std::vector<int64_t>> FactorsOf(const BoundTensor& tensor);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_BIND_H_
