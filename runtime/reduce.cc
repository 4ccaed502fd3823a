#include "runtime/reduce.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "opsemantics/base/check.h"
#include "opsemantics/base/half.h"
#include "opsemantics/base/hash_order.h"

namespace yuba {
namespace {

constexpr int64_t kChunk = 512;  // elements combined at a time, on the stack

// Element representations: what is stored and the value that is combined.
template <typename T>
struct Plain {
  using Stored = T;
  using Value = T;
  static Value Load(Stored stored) { return stored; }
  static Stored Store(Value value) { return value; }
};
struct F16 {
  using Stored = uint16_t;
  using Value = float;
  static Value Load(Stored stored) { return FromF16(stored); }
  static Stored Store(Value value) { return ToF16(value); }
};
struct BF16 {
  using Stored = uint16_t;
  using Value = float;
  static Value Load(Stored stored) { return FromBF16(stored); }
  static Stored Store(Value value) { return ToBF16(value); }
};
struct Bool {
  using Stored = uint8_t;
  using Value = uint8_t;
  static Value Load(Stored stored) { return stored != 0; }
  static Stored Store(Value value) { return value != 0; }
};
struct HashElement {
  uint64_t bits;
};

template <typename T>
T Wrap(uint64_t bits) {
  return static_cast<T>(bits);
}

template <typename T>
bool Less(T a, T b) {
  return a < b;
}
bool Less(HashElement a, HashElement b) { return HashRank(a.bits) < HashRank(b.bits); }

template <typename T>
bool IsNan(T value) {
  return value != value;
}
bool IsNan(HashElement) { return false; }

// Integers wrap, as in the kernels.
template <typename T>
T Sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return Wrap<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
HashElement Sum(HashElement a, HashElement b) { return {a.bits + b.bits}; }

template <typename T>
T Product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return Wrap<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}
HashElement Product(HashElement a, HashElement b) { return {a.bits * b.bits}; }

template <typename T>
bool Truth(T value) {
  return value != 0;
}
bool Truth(HashElement value) { return value.bits != 0; }

template <typename T>
T FromTruth(bool truth) {
  if constexpr (std::is_same_v<T, HashElement>) return HashElement{truth};
  else return static_cast<T>(truth);
}

// The integer sum of bit patterns: at most one part is not zero.
template <typename T>
T Pick(T a, T b) {
  using Bits = std::conditional_t<
      sizeof(T) == 8, uint64_t,
      std::conditional_t<sizeof(T) == 4, uint32_t,
                         std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
  Bits x, y;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
  x = static_cast<Bits>(x + y);
  std::memcpy(&a, &x, sizeof x);
  return a;
}

template <typename T>
T CombineTwo(program::Reducer reducer, T a, T b) {
  switch (reducer) {
    case program::SUM: return Sum(a, b);
    case program::PROD: return Product(a, b);
    case program::MAX: return IsNan(a) || Less(b, a) ? a : b;
    case program::MIN: return IsNan(a) || Less(a, b) ? a : b;
    case program::ANY: return FromTruth<T>(Truth(a) || Truth(b));
    case program::ALL: return FromTruth<T>(Truth(a) && Truth(b));
    case program::PICK: return Pick(a, b);
    default: break;
  }
  YUBA_CHECK(false) << "parts of " << program::Reducer_Name(reducer);
  return a;
}

template <typename T>
T Lowest(bool highest) {
  if constexpr (std::is_same_v<T, HashElement>) {
    return {highest ? kHashPlusInfinity : kHashMinusInfinity};
  } else if constexpr (std::is_floating_point_v<T>) {
    const T infinity = std::numeric_limits<T>::infinity();
    return highest ? infinity : -infinity;
  } else {
    return highest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  }
}

template <typename T>
T IdentityOf(program::Reducer reducer) {
  switch (reducer) {
    case program::MAX: return Lowest<T>(false);
    case program::MIN: return Lowest<T>(true);
    case program::PROD:
    case program::ALL: return FromTruth<T>(true);
    default: return FromTruth<T>(false);
  }
}

template <typename From, typename To>
void CombineAs(program::Reducer reducer, const BoxWalk& walk, const std::vector<const char*>& parts,
               char* result) {
  using Value = typename From::Value;
  const int64_t to_stride = walk.buffers.back().strides.back();
  const Value identity = IdentityOf<Value>(reducer);
  Value sums[kChunk];
  ForEachRun(walk, [&](const std::vector<int64_t>& offsets, int64_t length) {
    for (int64_t start = 0; start < length; start += kChunk) {
      const int64_t count = std::min(kChunk, length - start);
      if (parts.empty()) std::fill(sums, sums + count, identity);
      for (size_t p = 0; p < parts.size(); ++p) {
        const int64_t stride = walk.buffers[p].strides.back();
        const auto* from = reinterpret_cast<const typename From::Stored*>(parts[p]) + offsets[p] +
                           start * stride;
        if (p == 0) {
          for (int64_t i = 0; i < count; ++i) sums[i] = From::Load(from[i * stride]);
        } else {
          for (int64_t i = 0; i < count; ++i) {
            sums[i] = CombineTwo(reducer, sums[i], From::Load(from[i * stride]));
          }
        }
      }
      auto* to = reinterpret_cast<typename To::Stored*>(result) + offsets.back() +
                 start * to_stride;
      for (int64_t i = 0; i < count; ++i) to[i * to_stride] = To::Store(sums[i]);
    }
  });
}

}  // namespace

void CombineWalk(const Combination& combination, const BoxWalk& walk,
                 const std::vector<const char*>& parts, char* result) {
  const program::Reducer reducer = combination.reducer;
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
  }
}

}  // namespace yuba
