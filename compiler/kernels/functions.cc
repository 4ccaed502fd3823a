// The functions of bodies, on floats and on integers.
#include "compiler/kernels/scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "opsemantics/base/check.h"

namespace yuba::kernels {

using mlir::Value;
namespace arith = mlir::arith;
namespace math = mlir::math;

Typed ScalarBuilder::Literal(const Expr& literal) {
  if (IsHash(literal.type)) return HashLiteral(literal);
  if (IsFloat(literal.type))
    return {Constant(literal.type, RoundedTo(literal.type, literal.number)), literal.type};
  return {IntegerConstant(ValueType(literal.type), literal.integer), literal.type};
}

Typed ScalarBuilder::Call(Function function, std::vector<Typed> args) {
  if (function == Function::kSelect) {
    const ElementType type = CommonType(args[1].type, args[2].type);
    Value condition = Convert(args[0], ElementType::kBool).value;
    return {b_.create<arith::SelectOp>(loc(), condition, Convert(args[1], type).value,
                                       Convert(args[2], type).value),
            type};
  }
  if (function == Function::kRandom) return RandomCall(args);
  ElementType type = IsLogical(function) ? ElementType::kBool : args[0].type;
  for (const Typed& arg : args)
    if (!IsLogical(function)) type = CommonType(type, arg.type);
  for (Typed& arg : args) arg = Convert(arg, type);
  if (IsLogical(function)) return LogicCall(function, args);
  if (IsHash(type)) return HashCall(function, args);
  if (IsComparison(function)) return Compare(function, args[0], args[1]);
  if (type == ElementType::kBool) return BoolCall(function, args);
  return IsFloat(type) ? FloatCall(function, args) : IntegerCall(function, args);
}

Typed ScalarBuilder::LogicCall(Function function, const std::vector<Typed>& args) {
  Value a = args[0].value;
  if (function == Function::kAnd) return {And(a, args[1].value), ElementType::kBool};
  if (function == Function::kOr)
    return {b_.create<arith::OrIOp>(loc(), a, args[1].value), ElementType::kBool};
  return {b_.create<arith::XOrIOp>(loc(), a, IntegerConstant(a.getType(), 1)), ElementType::kBool};
}

// Bools as numbers are the integers 0 and 1.
Typed ScalarBuilder::BoolCall(Function function, const std::vector<Typed>& args) {
  std::vector<Typed> integers;
  for (const Typed& arg : args) integers.push_back(Convert(arg, ElementType::kI32));
  return IntegerCall(function, integers);
}

Typed ScalarBuilder::Compare(Function function, Typed a, Typed b) {
  using Int = arith::CmpIPredicate;
  using Float = arith::CmpFPredicate;
  const bool is_unsigned = a.type == ElementType::kBool || a.type == ElementType::kU64;
  Int integer = Int::eq;
  Float number = Float::OEQ;
  if (function == Function::kNe) integer = Int::ne, number = Float::UNE;
  if (function == Function::kLt) integer = is_unsigned ? Int::ult : Int::slt, number = Float::OLT;
  if (function == Function::kLe) integer = is_unsigned ? Int::ule : Int::sle, number = Float::OLE;
  Value result;
  if (IsFloat(a.type))
    result = b_.create<arith::CmpFOp>(loc(), number, a.value, b.value);
  else
    result = b_.create<arith::CmpIOp>(loc(), integer, a.value, b.value);
  return {result, ElementType::kBool};
}

// A power of 2, 3 or 4 that is written in the body, as products: a call of pow takes a hundred
// times as long. Null for other exponents.
Value ScalarBuilder::SmallPower(Value base, Value exponent) {
  llvm::APFloat number(0.0);
  if (!mlir::matchPattern(exponent, mlir::m_ConstantFloat(&number))) return Value();
  const auto product = [&](Value a, Value b) -> Value {
    return b_.create<arith::MulFOp>(loc(), a, b, arith::FastMathFlags::contract);
  };
  const Value square = product(base, base);
  if (number.isExactlyValue(2)) return square;
  if (number.isExactlyValue(3)) return product(square, base);
  if (number.isExactlyValue(4)) return product(square, square);
  return Value();
}

Typed ScalarBuilder::FloatCall(Function function, const std::vector<Typed>& args) {
  const ElementType type = args[0].type;
  Value a = args[0].value;
  Value b = args.size() > 1 ? args[1].value : Value();
  const auto fuse = arith::FastMathFlags::contract;
  Value r;
  switch (function) {
    case Function::kAdd: r = b_.create<arith::AddFOp>(loc(), a, b, fuse); break;
    case Function::kSub: r = b_.create<arith::SubFOp>(loc(), a, b, fuse); break;
    case Function::kMul: r = b_.create<arith::MulFOp>(loc(), a, b, fuse); break;
    case Function::kDiv: r = b_.create<arith::DivFOp>(loc(), a, b); break;
    case Function::kNeg: r = b_.create<arith::NegFOp>(loc(), a); break;
    case Function::kMin: r = MinMax(a, b, false); break;
    case Function::kMax: r = MinMax(a, b, true); break;
    case Function::kAbs: r = b_.create<math::AbsFOp>(loc(), a); break;
    case Function::kSign: r = Sign(a, type); break;
    case Function::kFloor: r = b_.create<math::FloorOp>(loc(), a); break;
    case Function::kCeil: r = b_.create<math::CeilOp>(loc(), a); break;
    case Function::kRound: r = b_.create<math::RoundEvenOp>(loc(), a); break;
    case Function::kSq: r = b_.create<arith::MulFOp>(loc(), a, a, fuse); break;
    case Function::kSqrt: r = b_.create<math::SqrtOp>(loc(), a); break;
    case Function::kRsqrt: {
      Value root = b_.create<math::SqrtOp>(loc(), a);
      r = b_.create<arith::DivFOp>(loc(), Constant(type, 1), root);
      break;
    }
    case Function::kWrap: {
      Value sum = b_.create<arith::AddFOp>(loc(), a, b);
      Value negative =
          b_.create<arith::CmpFOp>(loc(), arith::CmpFPredicate::OLT, a, Constant(type, 0));
      r = b_.create<arith::SelectOp>(loc(), negative, sum, a);
      break;
    }
    case Function::kSig: {
      Value negative = b_.create<arith::NegFOp>(loc(), a);
      Value one = Constant(type, 1);
      Value sum = b_.create<arith::AddFOp>(loc(), one, Library("exp", type, {negative}));
      r = b_.create<arith::DivFOp>(loc(), one, sum);
      break;
    }
    default: {
      if (function == Function::kPow && (r = SmallPower(a, b))) break;
      const char* name = FactsOf(function).library.name;
      YUBA_CHECK(name != nullptr) << Name(function) << " of " << Name(type);
      r = b ? Library(name, type, {a, b}) : Library(name, type, {a});
    }
  }
  return {r, type};
}

// NaN if one of the two is NaN.
Value ScalarBuilder::MinMax(Value a, Value b, bool max) {
  if (!target_.doubles_have_min && a.getType().isF64()) {
    const auto order = max ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OLE;
    Value first = b_.create<arith::CmpFOp>(loc(), order, a, b);
    Value nan = b_.create<arith::CmpFOp>(loc(), arith::CmpFPredicate::UNO, a, a);
    first = b_.create<arith::OrIOp>(loc(), first, nan);
    return b_.create<arith::SelectOp>(loc(), first, a, b);
  }
  if (max) return b_.create<arith::MaximumFOp>(loc(), a, b);
  return b_.create<arith::MinimumFOp>(loc(), a, b);
}

Value ScalarBuilder::Sign(Value a, ElementType type) {
  Value zero = Constant(type, 0);
  Value above = b_.create<arith::CmpFOp>(loc(), arith::CmpFPredicate::OGT, a, zero);
  Value below = b_.create<arith::CmpFOp>(loc(), arith::CmpFPredicate::OLT, a, zero);
  Value rest = b_.create<arith::SelectOp>(loc(), below, Constant(type, -1), a);  // 0 or NaN
  return b_.create<arith::SelectOp>(loc(), above, Constant(type, 1), rest);
}

// Where the 64 bits of a u64 must not be taken for a number with a sign; else nothing.
absl::optional<Typed> ScalarBuilder::UnsignedCall(Function function,
                                                  const std::vector<Typed>& args) {
  const Value a = args[0].value;
  const auto typed = [](Value value) { return Typed{value, ElementType::kU64}; };
  switch (function) {
    case Function::kAbs:
    case Function::kWrap: return typed(a);
    case Function::kSign: return typed(b_.create<arith::MinUIOp>(loc(), a, Int(1)));
    case Function::kDiv: return typed(DivideUnsigned(a, args[1].value, false));
    case Function::kMod: return typed(DivideUnsigned(a, args[1].value, true));
    case Function::kMin: return typed(b_.create<arith::MinUIOp>(loc(), a, args[1].value));
    case Function::kMax: return typed(b_.create<arith::MaxUIOp>(loc(), a, args[1].value));
    case Function::kPow: return typed(PowerOfUnsigned(a, args[1].value));
    default: return absl::nullopt;
  }
}

Typed ScalarBuilder::IntegerCall(Function function, const std::vector<Typed>& args) {
  const ElementType type = args[0].type;
  if (type == ElementType::kU64) {
    if (const absl::optional<Typed> result = UnsignedCall(function, args)) return *result;
  }
  Value a = args[0].value;
  Value b = args.size() > 1 ? args[1].value : Value();
  Value zero = IntegerConstant(a.getType(), 0);
  auto less = [&](Value x, Value y) {
    return b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::slt, x, y);
  };
  Value r;
  switch (function) {
    case Function::kAdd: r = Add(a, b); break;
    case Function::kSub: r = Sub(a, b); break;
    case Function::kMul: r = Mul(a, b); break;
    case Function::kDiv: r = SafeDivide(a, b, false); break;
    case Function::kNeg: r = Sub(zero, a); break;
    case Function::kMin: r = Min(a, b); break;
    case Function::kMax: r = Max(a, b); break;
    case Function::kAbs: r = Max(a, Sub(zero, a)); break;
    case Function::kSign: {
      Value one = IntegerConstant(a.getType(), 1);
      r = Max(Min(a, one), IntegerConstant(a.getType(), -1));
      break;
    }
    case Function::kFloor:
    case Function::kCeil:
    case Function::kRound: r = a; break;
    case Function::kSq: r = Mul(a, a); break;
    case Function::kMod: r = SafeDivide(a, b, true); break;
    case Function::kPow: return NarrowInteger(Power(args[0], args[1]), type);
    case Function::kWrap: {
      Value wrapped = Add(a, b);
      r = b_.create<arith::SelectOp>(loc(), less(a, zero), wrapped, a);
      if (arithmetic_ == Arithmetic::kHash) r = HashWrap(a, b);
      break;
    }
    case Function::kLabel: r = Label(a, b, args[2].value); break;
    default: return ThroughFloat(function, args);
  }
  return {r, type};
}

// -1 where the value is ignored. In hash arithmetic every integer is a label, or as good as
// ignored.
Value ScalarBuilder::Label(Value value, Value classes, Value ignored) {
  const Value none = IntegerConstant(value.getType(), -1);
  const auto equal = [&](Value x, Value y) {
    return b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::eq, x, y);
  };
  Value label = value;
  if (arithmetic_ == Arithmetic::kHash) {
    const Value one = HashWrap(value, Sub(classes, none));
    label = b_.create<arith::SelectOp>(loc(), equal(one, classes), none, one);
  }
  return b_.create<arith::SelectOp>(loc(), equal(value, ignored), none, label);
}

// Functions of real numbers on integers: computed in f64, the result rounded towards zero.
Typed ScalarBuilder::ThroughFloat(Function function, const std::vector<Typed>& args) {
  const Arithmetic arithmetic = arithmetic_;
  arithmetic_ = Arithmetic::kFloat;  // integers stay numbers in hash arithmetic too
  std::vector<Typed> numbers;
  for (const Typed& arg : args) {
    numbers.push_back(Convert(arg, ElementType::kF64));
  }
  const ElementType wide =
      args[0].type == ElementType::kU64 ? ElementType::kU64 : ElementType::kI64;
  const Typed whole = FloatToInteger(FloatCall(function, numbers).value, wide);
  arithmetic_ = arithmetic;
  return whole;
}

// The quotient is rounded towards zero; the remainder is that of the quotient rounded down, with
// the sign of the divisor. Both are 0 where b is 0; the least integer divided by -1 wraps.
Value ScalarBuilder::SafeDivide(Value a, Value b, bool remainder) {
  mlir::Type type = a.getType();
  auto equal = [&](Value x, int64_t y) {
    return b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::eq, x, IntegerConstant(type, y));
  };
  Value zero = IntegerConstant(type, 0);
  Value by_zero = equal(b, 0), by_minus = equal(b, -1);
  Value special = b_.create<arith::OrIOp>(loc(), by_zero, by_minus);
  Value safe = b_.create<arith::SelectOp>(loc(), special, IntegerConstant(type, 1), b);
  if (remainder) {
    Value rest = b_.create<arith::RemSIOp>(loc(), a, safe);  // 0 for both special divisors
    Value other_sign = b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::slt,
                                                b_.create<arith::XOrIOp>(loc(), rest, b), zero);
    Value nonzero = b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::ne, rest, zero);
    return b_.create<arith::SelectOp>(loc(), And(other_sign, nonzero), Add(rest, b), rest);
  }
  Value quotient = b_.create<arith::DivSIOp>(loc(), a, safe);
  quotient = b_.create<arith::SelectOp>(loc(), by_minus, Sub(zero, a), quotient);
  return b_.create<arith::SelectOp>(loc(), by_zero, zero, quotient);
}

// 0 where b is 0.
Value ScalarBuilder::DivideUnsigned(Value a, Value b, bool remainder) {
  const Value zero = IntegerConstant(a.getType(), 0);
  const Value by_zero = b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::eq, b, zero);
  const Value safe = b_.create<arith::SelectOp>(loc(), by_zero, IntegerConstant(a.getType(), 1), b);
  const Value result = remainder ? Value(b_.create<arith::RemUIOp>(loc(), a, safe))
                                 : Value(b_.create<arith::DivUIOp>(loc(), a, safe));
  return b_.create<arith::SelectOp>(loc(), by_zero, zero, result);
}

// By squaring, in 64 bits that wrap.
Value ScalarBuilder::PowerOfUnsigned(Value x, Value n) {
  auto loop = b_.create<mlir::scf::ForOp>(
      loc(), Int(0), Int(64), Int(1), mlir::ValueRange{Int(1), x},
      [&](mlir::OpBuilder&, mlir::Location, Value bit, mlir::ValueRange carried) {
        Value shifted = b_.create<arith::ShRUIOp>(loc(), n, bit);
        Value odd =
            b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::ne,
                                     b_.create<arith::AndIOp>(loc(), shifted, Int(1)), Int(0));
        Value more = Mul(carried[0], carried[1]);
        Value power = b_.create<arith::SelectOp>(loc(), odd, more, carried[0]);
        Value square = Mul(carried[1], carried[1]);
        b_.create<mlir::scf::YieldOp>(loc(), mlir::ValueRange{power, square});
      });
  return loop.getResult(0);
}

// In 64 bits that wrap; a negative exponent leaves 0 of all but 1 and -1.
Value ScalarBuilder::Power(Typed base, Typed exponent) {
  Value x = Convert(base, ElementType::kI64).value;
  Value n = Convert(exponent, ElementType::kI64).value;
  auto is = [&](arith::CmpIPredicate order, Value a, int64_t b) -> Value {
    return b_.create<arith::CmpIOp>(loc(), order, a, Int(b));
  };
  const Value power = PowerOfUnsigned(x, n);
  // 1 and -1 to any power come out right, also where n is negative: its low bit decides.
  Value unit = b_.create<arith::OrIOp>(loc(), is(arith::CmpIPredicate::eq, x, 1),
                                       is(arith::CmpIPredicate::eq, x, -1));
  Value vanishes = b_.create<arith::SelectOp>(loc(), unit, power, Int(0));
  return b_.create<arith::SelectOp>(loc(), is(arith::CmpIPredicate::slt, n, 0), vanishes, power);
}

Value ScalarBuilder::Library(const std::string& name, ElementType type,
                             const std::vector<Value>& args) {
  mlir::Type float_type = ValueType(type);
  std::string symbol = target_.functions.prefix + name + (float_type.isF64() ? "" : "f");
  std::vector<mlir::Type> inputs(args.size(), float_type);
  auto function_type = mlir::LLVM::LLVMFunctionType::get(float_type, inputs);
  auto function = module_.lookupSymbol<mlir::LLVM::LLVMFuncOp>(symbol);
  if (!function) {
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(module_.getBody());
    function = b_.create<mlir::LLVM::LLVMFuncOp>(loc(), symbol, function_type);
  }
  return b_.create<mlir::LLVM::CallOp>(loc(), function, args).getResult();
}

}  // namespace yuba::kernels
