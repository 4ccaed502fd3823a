// The arithmetic of combining two partials, by element type and reducer, and each reducer's
// identity. Constant expressions without dependencies: the host (reduce.cc) and the GPU
// (cuda/job.h) compile this same code, so that both give the same bits. Small floats are combined
// in f32: CombineTwo works on values, Load and Store go between them and what memory holds.
#ifndef YUBA_RUNTIME_COMBINE_H_
#define YUBA_RUNTIME_COMBINE_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "opsemantics/base/half.h"
#include "opsemantics/base/hash_order.h"
#include "opsemantics/base/reducer.h"

namespace yuba::runtime {

// Element representations: what is stored, and the value that is combined.
template <typename T>
struct Plain {
  using Stored = T;
  using Value = T;
  static constexpr Value Load(Stored stored) { return stored; }
  static constexpr Stored Store(Value value) { return value; }
};
struct F16 {
  using Stored = uint16_t;
  using Value = float;
  static constexpr Value Load(Stored stored) { return FromF16(stored); }
  static constexpr Stored Store(Value value) { return ToF16(value); }
};
struct BF16 {
  using Stored = uint16_t;
  using Value = float;
  static constexpr Value Load(Stored stored) { return FromBF16(stored); }
  static constexpr Stored Store(Value value) { return ToBF16(value); }
};
struct Bool {
  using Stored = uint8_t;
  using Value = uint8_t;
  static constexpr Value Load(Stored stored) { return stored != 0; }
  static constexpr Stored Store(Value value) { return value != 0; }
};
// An element of hash arithmetic, Z/2^64: its sums and products are exact in any order, its order is
// HashRank's.
struct HashElement {
  uint64_t bits;
};

namespace combine {

template <typename T>
constexpr bool Less(T a, T b) {
  return a < b;
}
constexpr bool Less(HashElement a, HashElement b) { return HashRank(a.bits) < HashRank(b.bits); }

template <typename T>
constexpr bool IsNan(T value) {
  return value != value;  // NOLINT(misc-redundant-expression): so of NaN alone
}
constexpr bool IsNan(HashElement) { return false; }

// Integers wrap, as in the kernels.
template <typename T>
constexpr T Sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
constexpr HashElement Sum(HashElement a, HashElement b) { return {a.bits + b.bits}; }

template <typename T>
constexpr T Product(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}
constexpr HashElement Product(HashElement a, HashElement b) { return {a.bits * b.bits}; }

template <typename T>
constexpr bool Truth(T value) {
  return value != 0;
}
constexpr bool Truth(HashElement value) { return value.bits != 0; }

template <typename T>
constexpr T FromTruth(bool truth) {
  if constexpr (std::is_same_v<T, HashElement>)
    return HashElement{truth};
  else
    return static_cast<T>(truth);
}

// The integer sum of bit patterns: at most one of the partials is not zero, and this is its bits.
template <typename T>
constexpr T Pick(T a, T b) {
  using Bits =
      std::conditional_t<sizeof(T) == 8, uint64_t,
                         std::conditional_t<sizeof(T) == 4, uint32_t,
                                            std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
  return __builtin_bit_cast(
      T, static_cast<Bits>(__builtin_bit_cast(Bits, a) + __builtin_bit_cast(Bits, b)));
}

template <typename T>
constexpr T Lowest(bool highest) {
  if constexpr (std::is_same_v<T, HashElement>) {
    return {highest ? kHashPlusInfinity : kHashMinusInfinity};
  } else if constexpr (std::is_floating_point_v<T>) {
    return highest ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  } else {
    return highest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  }
}

}  // namespace combine

// `a` is what the partials before `b` gave. NaN wins in max and min. kNone occurs with one partial
// alone, which has nothing to be combined with.
template <typename T>
constexpr T CombineTwo(Reducer reducer, T a, T b) {
  switch (reducer) {
    case Reducer::kSum: return combine::Sum(a, b);
    case Reducer::kProd: return combine::Product(a, b);
    case Reducer::kMax: return combine::IsNan(a) || combine::Less(b, a) ? a : b;
    case Reducer::kMin: return combine::IsNan(a) || combine::Less(a, b) ? a : b;
    case Reducer::kAny: return combine::FromTruth<T>(combine::Truth(a) || combine::Truth(b));
    case Reducer::kAll: return combine::FromTruth<T>(combine::Truth(a) && combine::Truth(b));
    case Reducer::kPick: return combine::Pick(a, b);
    case Reducer::kNone:
    case Reducer::kArgMax:
    case Reducer::kArgMin:
    case Reducer::kOpaque: break;  // nothing combines
  }
  return a;
}

// What no partials give: 0 for sum, -infinity or the lowest integer for max. 0 for kNone and kPick.
template <typename T>
constexpr T CombineIdentity(Reducer reducer) {
  switch (reducer) {
    case Reducer::kMax: return combine::Lowest<T>(false);
    case Reducer::kMin: return combine::Lowest<T>(true);
    case Reducer::kProd:
    case Reducer::kAll: return combine::FromTruth<T>(true);
    default: return combine::FromTruth<T>(false);
  }
}

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_COMBINE_H_
