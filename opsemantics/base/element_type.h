// The element types of tensors: their names, their sizes, and the type in which partials move.
#ifndef YUBA_OPSEMANTICS_BASE_ELEMENT_TYPE_H_
#define YUBA_OPSEMANTICS_BASE_ELEMENT_TYPE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace yuba {

enum class ElementType : uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kI64,
  kI32,
  kI8,
  kU8,
  kBool,
  kI16,
  kU16,
  kU32,
  kU64
};

int64_t ByteSize(ElementType type);  // bytes of one element: 4 for f32, 1 for bool
bool IsFloat(ElementType type);      // everything else is an integer; bool is one too
bool IsSigned(ElementType type);     // floats and integers that may be negative
const char* Name(ElementType type);  // "f32", as descriptions and plans write it
absl::optional<ElementType> ElementTypeFromName(absl::string_view name);  // nullopt: no such type

// Of an integer type; as 64 bits, which are those of 2^64 - 1 for the greatest u64.
int64_t LeastInteger(ElementType type);
int64_t GreatestInteger(ElementType type);
// The low bits of an integer of 64 bits, as the integer that they are in an integer type; in 64
// bits again. Of bool whether it is not 0.
int64_t WrapInteger(int64_t integer, ElementType type);

// All types, as messages name them: "f64, f32, ... and bool".
std::string NamesOfTypes();

// The type in which partials of a result of type `type` are stored and moved: f32 for f16 and bf16,
// else `type` itself.
ElementType AccumulatorType(ElementType type);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_ELEMENT_TYPE_H_
