// Elaboration: a description, used on operands of known shapes with known attributes, becomes
// definitions in the core form. Results are the same for equal uses and may be shared.
#ifndef YUBA_OPSEMANTICS_ELABORATE_ELABORATE_H_
#define YUBA_OPSEMANTICS_ELABORATE_ELABORATE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/variant.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/language/ast.h"

namespace yuba {

// The value of an attribute of a description: an integer (also for bool), a float, a pack of
// integers, or a type.
using AttributeValue = absl::variant<int64_t, double, std::vector<int64_t>, ElementType>;
using Attributes = std::map<std::string, AttributeValue>;

// The shape of an operand as its producer knows it.
struct Shape {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
};

enum class SlotRole : uint8_t { kOperand, kInternal, kOutput };

// A tensor of an instance. `dims` has the factors of each dimension as the description writes them:
// {g, ci} for (g ci); products are the shape's extents.
struct Slot {
  std::string name;
  SlotRole role = SlotRole::kOperand;
  int position = 0;  // among the operands, or the outputs, of the description
  ElementType type = ElementType::kF32;
  std::vector<std::vector<int64_t>> dims;
  bool state = false;
};

struct SlotDefinition {
  Definition definition;
  std::vector<int> operands;  // slots, parallel to definition.operands; distinct
  int result = 0;             // slot
};

struct Instance {
  std::string op;
  std::vector<Slot> slots;
  std::vector<SlotDefinition> definitions;  // each after those whose results it reads
};

// Operands are in the order of the description; nullopt for an absent `opt` (the last ones may be
// left out). An extent that shapes do not settle (of a pack beside another, or of one of two
// factors) is given as an attribute of its name. Errors underline the place in the description and
// name operand, extents and attribute.
absl::StatusOr<Instance> Elaborate(const OpDescription& op,
                                   const std::vector<absl::optional<Shape>>& operands,
                                   const Attributes& attributes);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_ELABORATE_H_
