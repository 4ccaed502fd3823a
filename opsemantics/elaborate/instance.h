// What goes into the elaboration of one use of an operator besides its description, and what comes
// out: shapes and attributes in, an Instance out. Plain values; elaborate.h has an example.
#ifndef YUBA_OPSEMANTICS_ELABORATE_INSTANCE_H_
#define YUBA_OPSEMANTICS_ELABORATE_INSTANCE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/variant.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// The value of an attribute of a description: an integer (also for bool), a float, a pack of
// integers, or a type.
using AttributeValue = absl::variant<int64_t, double, std::vector<int64_t>, ElementType>;
using Attributes = std::map<std::string, AttributeValue>;

// The shape of a tensor as a model has it, before any factors are known: its element type and the
// extent of each dimension, f32[32, 768]. (TensorType of definition.h has the same fields, but its
// dimensions are flat.)
struct Shape {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
};

// kSeed, kStep and kStream are what the random numbers of an instance are made of, each a scalar of
// i64 that no operand of the description gives: the seed of the run, how many steps were before
// this one, and for each `rand()` of the text the number of its stream. An instance without random
// numbers has none of them.
//
// kOutputGradient and kOperandGradient are in instances with gradients (elaborate.h) of operators
// that have `grad` items: the gradient of an output, which nothing here computes, and what the
// description says is that of an operand.
enum class SlotRole : uint8_t {
  kOperand,
  kInternal,
  kOutput,
  kSeed,
  kStep,
  kStream,
  kOutputGradient,
  kOperandGradient
};

// A tensor of an instance: an operand that is present, an output, a tensor that only its
// definitions know, or a scalar of random numbers.
struct Slot {
  std::string name;  // as the description calls it; "y.1" for a reduction inside the body of y,
                     // "grad x" for the gradient of the operand x
  SlotRole role = SlotRole::kOperand;
  int position = 0;  // among the operands or the outputs of the description, also of gradients;
                     // others: 0
  ElementType type = ElementType::kF32;
  // For each dimension its factors as the description writes them: {g, ci} for (g ci). The product
  // of the factors is the extent of the shape; all factors in order are the flat dimensions.
  std::vector<std::vector<int64_t>> dims;
  bool state = false;  // a `state` operand, or the output that is its next value
};

inline bool IsGradient(const Slot& slot) {
  return slot.role == SlotRole::kOutputGradient || slot.role == SlotRole::kOperandGradient;
}

// One definition and the slots that it reads and writes.
struct SlotDefinition {
  Definition definition;
  std::vector<int> operands;  // slots, parallel to definition.operands; distinct
  int result = 0;             // slot
};

// One use of an operator on tensors of known shapes: its tensors (slots) and the definitions that
// compute its outputs from its operands. All extents, types and attributes are numbers by now, and
// the description is no longer needed. The importer puts an instance into a graph by giving each
// slot a tensor and each definition a node.
struct Instance {
  std::string op;  // the operator's name, for people
  std::vector<Slot> slots;
  std::vector<SlotDefinition> definitions;  // each after those whose results it reads
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_INSTANCE_H_
