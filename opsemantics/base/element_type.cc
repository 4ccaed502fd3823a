#include "opsemantics/base/element_type.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace yuba {
namespace {

struct TypeFacts {
  ElementType type;
  const char* name;
  int64_t bytes;
  bool is_float, is_signed;
};

constexpr TypeFacts kTypes[] = {
    {ElementType::kF64, "f64", 8, true, true},     {ElementType::kF32, "f32", 4, true, true},
    {ElementType::kF16, "f16", 2, true, true},     {ElementType::kBF16, "bf16", 2, true, true},
    {ElementType::kI64, "i64", 8, false, true},    {ElementType::kI32, "i32", 4, false, true},
    {ElementType::kI8, "i8", 1, false, true},      {ElementType::kU8, "u8", 1, false, false},
    {ElementType::kBool, "bool", 1, false, false}, {ElementType::kI16, "i16", 2, false, true},
    {ElementType::kU16, "u16", 2, false, false},   {ElementType::kU32, "u32", 4, false, false},
    {ElementType::kU64, "u64", 8, false, false}};

const TypeFacts& Facts(ElementType type) { return kTypes[static_cast<int>(type)]; }

int UnusedBits(ElementType type) { return static_cast<int>(64 - 8 * ByteSize(type)); }

}  // namespace

int64_t ByteSize(ElementType type) { return Facts(type).bytes; }
bool IsFloat(ElementType type) { return Facts(type).is_float; }
bool IsSigned(ElementType type) { return Facts(type).is_signed; }
const char* Name(ElementType type) { return Facts(type).name; }

absl::optional<ElementType> ElementTypeFromName(absl::string_view name) {
  for (const TypeFacts& facts : kTypes) {
    if (name == facts.name) return facts.type;
  }
  return absl::nullopt;
}

int64_t LeastInteger(ElementType type) {
  return IsSigned(type) ? INT64_MIN >> UnusedBits(type) : 0;
}

int64_t GreatestInteger(ElementType type) {
  if (type == ElementType::kBool) return 1;
  return IsSigned(type) ? INT64_MAX >> UnusedBits(type)
                        : static_cast<int64_t>(UINT64_MAX >> UnusedBits(type));
}

int64_t WrapInteger(int64_t integer, ElementType type) {
  if (type == ElementType::kBool) return integer != 0;
  const int unused = UnusedBits(type);
  const uint64_t high = static_cast<uint64_t>(integer) << unused;
  return IsSigned(type) ? static_cast<int64_t>(high) >> unused
                        : static_cast<int64_t>(high >> unused);
}

std::string NamesOfTypes() {
  std::string names;
  const size_t count = std::size(kTypes);
  for (size_t t = 0; t < count; ++t) {
    absl::StrAppend(&names, t == 0 ? "" : t + 1 == count ? " and " : ", ", kTypes[t].name);
  }
  return names;
}

ElementType AccumulatorType(ElementType type) {
  return IsFloat(type) && ByteSize(type) < 4 ? ElementType::kF32 : type;
}

}  // namespace yuba
