#include "opsemantics/base/element_type.h"

namespace yuba {
namespace {

struct TypeFacts {
  ElementType type;
  const char* name;
  int64_t bytes;
  bool is_float;
};

constexpr TypeFacts kTypes[] = {
    {ElementType::kF64, "f64", 8, true},   {ElementType::kF32, "f32", 4, true},
    {ElementType::kF16, "f16", 2, true},   {ElementType::kBF16, "bf16", 2, true},
    {ElementType::kI64, "i64", 8, false},  {ElementType::kI32, "i32", 4, false},
    {ElementType::kI8, "i8", 1, false},    {ElementType::kU8, "u8", 1, false},
    {ElementType::kBool, "bool", 1, false}};

const TypeFacts& Facts(ElementType type) { return kTypes[static_cast<int>(type)]; }

}  // namespace

int64_t ByteSize(ElementType type) { return Facts(type).bytes; }
bool IsFloat(ElementType type) { return Facts(type).is_float; }
const char* Name(ElementType type) { return Facts(type).name; }

absl::optional<ElementType> ElementTypeFromName(absl::string_view name) {
  for (const TypeFacts& facts : kTypes) {
    if (name == facts.name) return facts.type;
  }
  return absl::nullopt;
}

ElementType AccumulatorType(ElementType type) {
  return IsFloat(type) && ByteSize(type) < 4 ? ElementType::kF32 : type;
}

}  // namespace yuba
