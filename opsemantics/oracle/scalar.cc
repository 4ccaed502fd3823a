#include "opsemantics/oracle/scalar.h"

#include <cmath>
#include <limits>

#include "absl/types/optional.h"
#include "opsemantics/base/half.h"
#include "opsemantics/base/philox.h"
#include "opsemantics/oracle/hash_arithmetic.h"

namespace yuba {
namespace {

Scalar Number(double number) { return {number}; }
Scalar Integer(int64_t integer) {
  Scalar scalar;
  scalar.integer = integer;
  return scalar;
}
Scalar Hash(uint64_t hash) {
  Scalar scalar;
  scalar.hash = hash;
  return scalar;
}

double RoundTo(double number, ElementType type) {
  switch (type) {
    case ElementType::kF32: return static_cast<float>(number);
    case ElementType::kF16: return FromF16(ToF16(static_cast<float>(number)));
    case ElementType::kBF16: return FromBF16(ToBF16(static_cast<float>(number)));
    default: return number;
  }
}

// 64 bits as the number that they are in an integer type.
double NumberOf(int64_t integer, ElementType type) {
  return type == ElementType::kU64 ? static_cast<double>(static_cast<uint64_t>(integer))
                                   : static_cast<double>(integer);
}

int64_t Saturate(double number, ElementType type) {
  if (type == ElementType::kBool) return number != 0;
  if (std::isnan(number)) return 0;
  const int64_t least = LeastInteger(type), greatest = GreatestInteger(type);
  if (number <= NumberOf(least, type)) return least;
  if (number >= NumberOf(greatest, type)) return greatest;
  return type == ElementType::kU64 ? static_cast<int64_t>(static_cast<uint64_t>(number))
                                   : static_cast<int64_t>(number);
}

int64_t DivideIntegers(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b;
}

int64_t FloorModulo(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

int64_t PowerOfUnsigned(uint64_t base, uint64_t exponent) {
  uint64_t power = 1, square = base;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) power *= square;
    square *= square;
  }
  return static_cast<int64_t>(power);
}

int64_t PowerOfIntegers(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  return PowerOfUnsigned(base, exponent);
}

// Where 64 bits must not be taken for a number with a sign; else nothing.
absl::optional<int64_t> ApplyToUnsigned(Function function, uint64_t a, uint64_t b) {
  switch (function) {
    case Function::kAbs:
    case Function::kWrap: return a;
    case Function::kSign: return a > 0;
    case Function::kDiv: return b == 0 ? 0 : a / b;
    case Function::kMod: return b == 0 ? 0 : a % b;
    case Function::kPow: return PowerOfUnsigned(a, b);
    case Function::kMin: return a < b ? a : b;
    case Function::kMax: return a < b ? b : a;
    case Function::kLt: return a < b;
    case Function::kLe: return a <= b;
    default: return absl::nullopt;
  }
}

int64_t ApplyToIntegers(Function function, ElementType type, int64_t a, int64_t b) {
  if (type == ElementType::kU64) {
    if (const absl::optional<int64_t> result = ApplyToUnsigned(function, a, b)) return *result;
  }
  const uint64_t x = a, y = b;  // sums and products wrap
  switch (function) {
    case Function::kAdd: return static_cast<int64_t>(x + y);
    case Function::kSub: return static_cast<int64_t>(x - y);
    case Function::kMul: return static_cast<int64_t>(x * y);
    case Function::kSq: return static_cast<int64_t>(x * x);
    case Function::kNeg: return static_cast<int64_t>(-x);
    case Function::kAbs: return a < 0 ? static_cast<int64_t>(-x) : a;
    case Function::kSign: return (a > 0) - (a < 0);
    case Function::kDiv: return DivideIntegers(a, b);
    case Function::kMod: return FloorModulo(a, b);
    case Function::kPow: return PowerOfIntegers(a, b);
    case Function::kWrap: return a < 0 ? static_cast<int64_t>(x + y) : a;
    case Function::kMin: return a < b ? a : b;
    case Function::kMax: return a < b ? b : a;
    case Function::kFloor:
    case Function::kCeil:
    case Function::kRound: return a;
    case Function::kEq: return a == b;
    case Function::kNe: return a != b;
    case Function::kLt: return a < b;
    case Function::kLe: return a <= b;
    case Function::kAnd: return a != 0 && b != 0;
    case Function::kOr: return a != 0 || b != 0;
    case Function::kNot: return a == 0;
    default:  // exp and the like: as floats do, then toward zero
      return Saturate(FactsOf(function).value(NumberOf(a, type), NumberOf(b, type)),
                      type == ElementType::kU64 ? type : ElementType::kI64);
  }
}

// In hash arithmetic any integer is a label: one of n + 1, of which the last is ignored.
int64_t LabelOf(int64_t label, int64_t classes, int64_t ignored, Arithmetic arithmetic) {
  if (label == ignored) return -1;
  if (arithmetic == Arithmetic::kFloat) return label;
  const int64_t one = classes < 0 ? 0 : FloorModulo(label, classes + 1);
  return one == classes ? -1 : one;
}

// 64 bits do not fit a double, but what a comparison says of an order and 0 does.
bool CompareHashes(Function function, uint64_t a, uint64_t b) {
  const uint64_t first = HashRank(a), second = HashRank(b);
  return FactsOf(function).value((first > second) - (first < second), 0) != 0;
}

uint64_t ApplyToHashes(Function function, uint64_t a, uint64_t b) {
  switch (function) {
    case Function::kAdd: return a + b;
    case Function::kSub: return a - b;
    case Function::kMul: return a * b;
    case Function::kNeg: return -a;
    case Function::kSq: return a * a;
    case Function::kDiv: return HashDivide(a, b);
    case Function::kMin: return HashMin(a, b);
    case Function::kMax: return HashMax(a, b);
    default: break;
  }
  const uint64_t salt = HashSalt(function);
  return ArgumentCount(function) == 2 ? HashMix2(a, b, salt) : HashMix(a, salt);
}

}  // namespace

Scalar FloatLiteral(double number, ElementType type, Arithmetic arithmetic) {
  const double rounded = RoundTo(number, type);
  return arithmetic == Arithmetic::kHash ? Hash(HashOf(rounded)) : Number(rounded);
}

Scalar Convert(Scalar value, ElementType from, ElementType to, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::kHash) {  // the same bits, as float or as integer
    return IsFloat(to) ? value : Integer(WrapInteger(value.integer, to));
  }
  if (IsFloat(from)) {
    return IsFloat(to) ? Number(RoundTo(value.number, to)) : Integer(Saturate(value.number, to));
  }
  if (IsFloat(to)) return Number(RoundTo(NumberOf(value.integer, from), to));
  return Integer(WrapInteger(value.integer, to));
}

Scalar Apply(Function function, ElementType type, Arithmetic arithmetic, const Scalar* args) {
  if (function == Function::kLabel) {
    return Integer(LabelOf(args[0].integer, args[1].integer, args[2].integer, arithmetic));
  }
  const Scalar a = args[0], b = ArgumentCount(function) == 2 ? args[1] : Integer(0);
  if (!IsFloat(type) || IsLogical(function)) {
    if (function == Function::kWrap && arithmetic == Arithmetic::kHash) {
      return Integer(b.integer <= 0 ? 0 : FloorModulo(a.integer, b.integer));
    }
    return Integer(ApplyToIntegers(function, type, a.integer, b.integer));
  }
  if (arithmetic == Arithmetic::kHash) {
    return IsComparison(function) ? Integer(CompareHashes(function, a.hash, b.hash))
                                  : Hash(ApplyToHashes(function, a.hash, b.hash));
  }
  const double value = FactsOf(function).value(a.number, b.number);
  return IsComparison(function) ? Integer(value != 0) : Number(value);
}

Scalar RandomNumber(const Scalar* args, Arithmetic arithmetic) {
  const PhiloxBlock block = Philox(args[0].hash, args[1].hash, args[2].hash);
  return arithmetic == Arithmetic::kHash ? Hash(HashOfRandom(block)) : Number(UniformOf(block));
}

Scalar Identity(Reducer reducer, ElementType type, Arithmetic arithmetic) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto constant = [&](double number, int64_t integer) {
    return IsFloat(type) ? FloatLiteral(number, type, arithmetic) : Integer(integer);
  };
  switch (reducer) {
    case Reducer::kProd: return constant(1, 1);
    case Reducer::kMax: return constant(-kInfinity, LeastInteger(type));
    case Reducer::kMin: return constant(kInfinity, GreatestInteger(type));
    case Reducer::kAll: return constant(1, 1);
    default: return Hash(0);  // zero bits in every type
  }
}

Scalar ReduceStep(Reducer reducer, ElementType type, Arithmetic arithmetic, Scalar a, Scalar b) {
  const Scalar args[2] = {a, b};
  switch (reducer) {
    case Reducer::kSum: return Apply(Function::kAdd, type, arithmetic, args);
    case Reducer::kProd: return Apply(Function::kMul, type, arithmetic, args);
    case Reducer::kMax: return Apply(Function::kMax, type, arithmetic, args);
    case Reducer::kMin: return Apply(Function::kMin, type, arithmetic, args);
    case Reducer::kAny: return Apply(Function::kOr, type, arithmetic, args);
    case Reducer::kAll: return Apply(Function::kAnd, type, arithmetic, args);
    case Reducer::kPick: return Hash(a.hash + b.hash);  // of bit patterns, all but one zero
    default: return b;
  }
}

}  // namespace yuba
