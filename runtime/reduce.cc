#include "runtime/reduce.h"

#include <algorithm>

#include "opsemantics/base/check.h"
#include "runtime/combine.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kChunk = 512;  // elements combined at a time, on the stack

template <typename From, typename To>
void CombineAs(Reducer reducer, const BoxWalk& walk, const std::vector<const char*>& parts,
               char* result) {
  using Value = typename From::Value;
  const int64_t to_stride = walk.buffers.back().strides.back();
  const Value identity = CombineIdentity<Value>(reducer);
  Value sums[kChunk];
  ForEachRun(walk, [&](const std::vector<int64_t>& offsets, int64_t length) {
    for (int64_t start = 0; start < length; start += kChunk) {
      const int64_t count = std::min(kChunk, length - start);
      if (parts.empty()) std::fill(sums, sums + count, identity);
      for (size_t p = 0; p < parts.size(); ++p) {
        const int64_t stride = walk.buffers[p].strides.back();
        const auto* from =
            reinterpret_cast<const typename From::Stored*>(parts[p]) + offsets[p] + start * stride;
        if (p == 0) {
          for (int64_t i = 0; i < count; ++i) sums[i] = From::Load(from[i * stride]);
        } else {
          for (int64_t i = 0; i < count; ++i) {
            sums[i] = CombineTwo(reducer, sums[i], From::Load(from[i * stride]));
          }
        }
      }
      auto* to =
          reinterpret_cast<typename To::Stored*>(result) + offsets.back() + start * to_stride;
      for (int64_t i = 0; i < count; ++i) to[i * to_stride] = To::Store(sums[i]);
    }
  });
}

}  // namespace

void CombineWalk(const Combination& combination, const BoxWalk& walk,
                 const std::vector<const char*>& parts, char* result) {
  YUBA_CHECK(parts.size() < 2 || MayHavePartials(combination.reducer))
      << "partials of " << Name(combination.reducer);
  const Reducer reducer = combination.reducer;
  if (combination.hash && IsFloat(combination.from)) {
    return CombineAs<Plain<HashElement>, Plain<HashElement>>(reducer, walk, parts, result);
  }
  if (combination.from != combination.to) {
    YUBA_CHECK(combination.from == ElementType::kF32);
    return combination.to == ElementType::kF16
               ? CombineAs<Plain<float>, F16>(reducer, walk, parts, result)
               : CombineAs<Plain<float>, BF16>(reducer, walk, parts, result);
  }
  switch (combination.from) {
    case ElementType::kF64:
      return CombineAs<Plain<double>, Plain<double>>(reducer, walk, parts, result);
    case ElementType::kF32:
      return CombineAs<Plain<float>, Plain<float>>(reducer, walk, parts, result);
    case ElementType::kF16: return CombineAs<F16, F16>(reducer, walk, parts, result);
    case ElementType::kBF16: return CombineAs<BF16, BF16>(reducer, walk, parts, result);
    case ElementType::kI64:
      return CombineAs<Plain<int64_t>, Plain<int64_t>>(reducer, walk, parts, result);
    case ElementType::kI32:
      return CombineAs<Plain<int32_t>, Plain<int32_t>>(reducer, walk, parts, result);
    case ElementType::kI8:
      return CombineAs<Plain<int8_t>, Plain<int8_t>>(reducer, walk, parts, result);
    case ElementType::kU8:
      return CombineAs<Plain<uint8_t>, Plain<uint8_t>>(reducer, walk, parts, result);
    case ElementType::kBool: return CombineAs<Bool, Bool>(reducer, walk, parts, result);
    case ElementType::kI16:
      return CombineAs<Plain<int16_t>, Plain<int16_t>>(reducer, walk, parts, result);
    case ElementType::kU16:
      return CombineAs<Plain<uint16_t>, Plain<uint16_t>>(reducer, walk, parts, result);
    case ElementType::kU32:
      return CombineAs<Plain<uint32_t>, Plain<uint32_t>>(reducer, walk, parts, result);
    case ElementType::kU64:
      return CombineAs<Plain<uint64_t>, Plain<uint64_t>>(reducer, walk, parts, result);
  }
}

}  // namespace yuba::runtime
