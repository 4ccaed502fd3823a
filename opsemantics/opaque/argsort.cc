#include "opsemantics/opaque/argsort.h"

#include <cstring>
#include <functional>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/half.h"
#include "opsemantics/base/hash_order.h"

namespace yuba {
namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;

template <typename T>
T Load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The order of numbers as that of unsigned integers: the bits of positive ones ascend, those of
// negative ones descend.
uint64_t RankOf(double value) {
  if (value != value) return ~uint64_t{0};
  if (value == 0) return kSign;  // -0 too
  const uint64_t bits = __builtin_bit_cast(uint64_t, value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

uint64_t RankOf(int64_t value) { return static_cast<uint64_t>(value) ^ kSign; }

uint64_t RankAt(const char* at, ElementType type, bool hash) {
  if (hash && IsFloat(type)) return HashRank(Load<uint64_t>(at));
  switch (type) {
    case ElementType::kF64: return RankOf(Load<double>(at));
    case ElementType::kF32: return RankOf(double{Load<float>(at)});
    case ElementType::kF16: return RankOf(double{FromF16(Load<uint16_t>(at))});
    case ElementType::kBF16: return RankOf(double{FromBF16(Load<uint16_t>(at))});
    case ElementType::kI64: return RankOf(Load<int64_t>(at));
    case ElementType::kI32: return RankOf(int64_t{Load<int32_t>(at)});
    case ElementType::kI8: return RankOf(int64_t{Load<int8_t>(at)});
    case ElementType::kU8: return RankOf(int64_t{Load<uint8_t>(at)});
    case ElementType::kBool: return RankOf(int64_t{Load<uint8_t>(at) != 0});
    case ElementType::kI16: return RankOf(int64_t{Load<int16_t>(at)});
    case ElementType::kU16: return RankOf(int64_t{Load<uint16_t>(at)});
    case ElementType::kU32: return RankOf(int64_t{Load<uint32_t>(at)});
    case ElementType::kU64: return Load<uint64_t>(at);
  }
  return 0;
}

}  // namespace

std::string WhyNotArgsort(const OpaqueSignature& signature) {
  if (signature.arguments.size() != 1 || signature.attributes.size() != 1) {
    return "it takes one operand and the attribute 'descending'";
  }
  const OpaqueType& row = signature.arguments[0];
  if (row.extents.size() != 1) {
    return absl::StrCat("it sorts along one dimension that is not cut, not ", row.extents.size());
  }
  if (signature.result.type != ElementType::kI64 || signature.result.extents != row.extents) {
    return "its result is i64 and as long as the dimension along which it sorts";
  }
  return "";
}

void Argsort(const OpaqueCall& call) {
  const OpaqueSlice<const char>& row = call.arguments[0];
  const int64_t length = row.type.extents[0];
  const int64_t step =
      row.strides[0] * (call.hash && IsFloat(row.type.type) ? 8 : ByteSize(row.type.type));
  const uint64_t flip = call.attributes[0] != 0 ? ~uint64_t{0} : 0;
  std::vector<SortEntry> entries;
  entries.reserve(length);
  for (int64_t i = 0; i < length; ++i) {
    entries.push_back({RankAt(row.data + i * step, row.type.type, call.hash) ^ flip, i});
  }
  SortEntries(entries, std::less<SortEntry>());
  auto* const at = reinterpret_cast<int64_t*>(call.result.data);
  for (int64_t i = 0; i < length; ++i) at[i * call.result.strides[0]] = entries[i].second;
}

}  // namespace yuba
