#include "compiler/kernels/scalars.h"

#include <algorithm>
#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/hash_order.h"

namespace yuba::kernels {

using mlir::Value;
namespace arith = mlir::arith;

namespace {

// What FloatFromBFloat has made the value of; null where it has not made it.
Value StoredBFloat(Value value) {
  auto cast = value.getDefiningOp<arith::BitcastOp>();
  auto shifted = cast ? cast.getIn().getDefiningOp<arith::ShLIOp>() : arith::ShLIOp();
  auto wide = shifted ? shifted.getLhs().getDefiningOp<arith::ExtUIOp>() : arith::ExtUIOp();
  return wide && wide.getIn().getType().isInteger(16) ? wide.getIn() : Value();
}

}  // namespace

mlir::Type ScalarBuilder::StoredType(ElementType type) {
  if (IsHash(type)) return b_.getI64Type();
  switch (type) {
    case ElementType::kF64: return b_.getF64Type();
    case ElementType::kF32: return b_.getF32Type();
    case ElementType::kF16: return b_.getF16Type();
    case ElementType::kBF16: return b_.getIntegerType(16);  // converted here: few targets can
    default: return b_.getIntegerType(8 * ByteSize(type));
  }
}

mlir::Type ScalarBuilder::ValueType(ElementType type) {
  if (IsHash(type)) return b_.getI64Type();
  switch (type) {
    case ElementType::kF64: return b_.getF64Type();
    case ElementType::kF32:
    case ElementType::kF16:
    case ElementType::kBF16: return b_.getF32Type();
    case ElementType::kI64:
    case ElementType::kU64:
    case ElementType::kU32: return b_.getI64Type();
    case ElementType::kBool: return b_.getI1Type();
    default: return b_.getI32Type();
  }
}

Typed ScalarBuilder::FromStored(Value stored, ElementType type) {
  if (IsHash(type)) return {stored, type};
  switch (type) {
    case ElementType::kF16: return {b_.create<arith::ExtFOp>(loc(), b_.getF32Type(), stored), type};
    case ElementType::kBF16: return {FloatFromBFloat(stored), type};
    case ElementType::kBool: {
      Value zero = IntegerConstant(stored.getType(), 0);
      return {b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::ne, stored, zero), type};
    }
    default: return {IsFloat(type) ? stored : Widened(stored, type), type};
  }
}

// An integer as it is stored, or its low bits, to that of a register.
Value ScalarBuilder::Widened(Value stored, ElementType type) {
  const mlir::Type wide = ValueType(type);
  if (stored.getType() == wide) return stored;
  return IsSigned(type) ? Value(b_.create<arith::ExtSIOp>(loc(), wide, stored))
                        : Value(b_.create<arith::ExtUIOp>(loc(), wide, stored));
}

Value ScalarBuilder::ToStored(Typed value, ElementType type) {
  value = Convert(value, type);
  if (IsHash(type)) return value.value;
  switch (type) {
    case ElementType::kF16: return b_.create<arith::TruncFOp>(loc(), b_.getF16Type(), value.value);
    case ElementType::kBF16: return BFloatFromFloat(value.value);
    case ElementType::kBool: return b_.create<arith::ExtUIOp>(loc(), StoredType(type), value.value);
    default: break;
  }
  if (value.value.getType() == StoredType(type)) return value.value;
  return b_.create<arith::TruncIOp>(loc(), StoredType(type), value.value);
}

Value ScalarBuilder::FloatFromBFloat(Value bits) {
  Value wide = b_.create<arith::ExtUIOp>(loc(), b_.getI32Type(), bits);
  Value sixteen = IntegerConstant(b_.getI32Type(), 16);
  wide = b_.create<arith::ShLIOp>(loc(), wide, sixteen);
  return b_.create<arith::BitcastOp>(loc(), b_.getF32Type(), wide);
}

// Rounds to the nearest, ties to even; NaN stays NaN. What was read is written as it is.
Value ScalarBuilder::BFloatFromFloat(Value value) {
  if (const Value stored = StoredBFloat(value)) return stored;
  mlir::Type i32 = b_.getI32Type();
  Value bits = b_.create<arith::BitcastOp>(loc(), i32, value);
  Value sixteen = IntegerConstant(i32, 16);
  Value last = b_.create<arith::ShRUIOp>(loc(), bits, sixteen);
  Value odd = b_.create<arith::AndIOp>(loc(), last, IntegerConstant(i32, 1));
  Value bias = b_.create<arith::AddIOp>(loc(), odd, IntegerConstant(i32, 0x7fff));
  Value rounded = b_.create<arith::AddIOp>(loc(), bits, bias);
  Value nan = b_.create<arith::CmpFOp>(loc(), arith::CmpFPredicate::UNO, value, value);
  Value quiet = b_.create<arith::OrIOp>(loc(), bits, IntegerConstant(i32, 0x400000));
  rounded = b_.create<arith::SelectOp>(loc(), nan, quiet, rounded);
  rounded = b_.create<arith::ShRUIOp>(loc(), rounded, sixteen);
  return b_.create<arith::TruncIOp>(loc(), b_.getIntegerType(16), rounded);
}

Value ScalarBuilder::Constant(ElementType type, double number) {
  mlir::Type float_type = ValueType(type);
  return b_.create<arith::ConstantOp>(loc(), b_.getFloatAttr(float_type, number));
}

Value ScalarBuilder::IntegerConstant(mlir::Type type, int64_t value) {
  return b_.create<arith::ConstantOp>(loc(), b_.getIntegerAttr(type, value));
}

ElementType ScalarBuilder::CommonType(ElementType a, ElementType b) {
  if (a == b) return a;
  if (IsFloat(a) && IsFloat(b)) {
    if (ByteSize(a) == ByteSize(b)) return ElementType::kF32;
    return ByteSize(a) > ByteSize(b) ? a : b;
  }
  if (IsFloat(a) || IsFloat(b)) return IsFloat(a) ? a : b;
  if (a == ElementType::kBool || b == ElementType::kBool) return a == ElementType::kBool ? b : a;
  if (IsSigned(a) == IsSigned(b) || ByteSize(a) != ByteSize(b)) {
    const ElementType wider = ByteSize(a) > ByteSize(b) ? a : b;
    if (IsSigned(wider) || IsSigned(a) == IsSigned(b)) return wider;
  }
  // One has a sign, which the other, as wide or wider, has not.
  return std::max(ByteSize(a), ByteSize(b)) < 4 ? ElementType::kI32 : ElementType::kI64;
}

Typed ScalarBuilder::Convert(Typed value, ElementType to) {
  const ElementType from = value.type;
  if (from == to) return value;
  mlir::Type type = ValueType(to);
  Value v = value.value;
  if (IsFloat(from) && IsFloat(to)) {
    if (v.getType() == type) return {v, to};
    if (to == ElementType::kF64) return {b_.create<arith::ExtFOp>(loc(), type, v), to};
    return {b_.create<arith::TruncFOp>(loc(), type, v), to};
  }
  if (IsHash(from) || IsHash(to)) {
    Typed args = value;
    return HashConvert(args, to);
  }
  if (IsFloat(from)) {
    if (to == ElementType::kBool)
      return {b_.create<arith::CmpFOp>(loc(), arith::CmpFPredicate::UNE, v, Constant(from, 0)), to};
    return FloatToInteger(v, to);
  }
  if (IsFloat(to)) {
    if (from == ElementType::kBool || from == ElementType::kU64)
      return {b_.create<arith::UIToFPOp>(loc(), type, v), to};
    return {b_.create<arith::SIToFPOp>(loc(), type, v), to};
  }
  return IntegerConvert(value, to);
}

// A value that does not fit becomes the nearest that does, and NaN becomes 0: nothing is undefined.
Typed ScalarBuilder::FloatToInteger(Value value, ElementType to) {
  const auto bits = static_cast<unsigned>(8 * ByteSize(to));
  const std::string name = std::string(IsSigned(to) ? "llvm.fptosi" : "llvm.fptoui") + ".sat.i" +
                           std::to_string(bits) + (value.getType().isF64() ? ".f64" : ".f32");
  Value result = b_.create<mlir::LLVM::CallIntrinsicOp>(
                       loc(), b_.getIntegerType(bits), b_.getStringAttr(name),
                       mlir::ValueRange{value}, mlir::LLVM::FastmathFlagsAttr())
                     .getResult(0);
  return {Widened(result, to), to};
}

// The low bits of an i64, as a value of type `to`.
Typed ScalarBuilder::NarrowInteger(Value value, ElementType to) {
  return IntegerConvert({value, ElementType::kI64}, to);
}

Typed ScalarBuilder::IntegerConvert(Typed value, ElementType to) {
  if (value.type == to) return value;
  Value v = value.value;
  if (to == ElementType::kBool) {
    Value zero = IntegerConstant(v.getType(), 0);
    return {b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::ne, v, zero), to};
  }
  if (value.type == ElementType::kBool)
    return {b_.create<arith::ExtUIOp>(loc(), ValueType(to), v), to};
  // In registers an integer is its number, wider than it is stored; a u64 alone has no room for a
  // sign.
  const mlir::Type stored = StoredType(to);
  const unsigned bits = v.getType().getIntOrFloatBitWidth();
  if (bits < stored.getIntOrFloatBitWidth()) v = b_.create<arith::ExtSIOp>(loc(), stored, v);
  if (bits > stored.getIntOrFloatBitWidth()) v = b_.create<arith::TruncIOp>(loc(), stored, v);
  return {Widened(v, to), to};
}

Typed ScalarBuilder::Identity(Reducer reducer, ElementType type) {
  Expr literal;
  literal.type = type;
  const double infinity = std::numeric_limits<double>::infinity();
  switch (reducer) {
    case Reducer::kProd:
    case Reducer::kAll:
      literal.number = 1;
      literal.integer = 1;
      break;
    case Reducer::kMax:
    case Reducer::kMin: {
      const bool max = reducer == Reducer::kMax;
      literal.number = max ? -infinity : infinity;
      literal.integer = max ? LeastInteger(type) : GreatestInteger(type);
      break;
    }
    case Reducer::kPick:
      if (IsHash(type)) return {Int(0), type};
      break;
    default: break;
  }
  return Literal(literal);
}

Typed ScalarBuilder::Combine(Reducer reducer, Typed a, Typed b) {
  // A bool is whether its number is not 0: a sum is an or, a product an and.
  if (a.type == ElementType::kBool) {
    const bool either = reducer == Reducer::kSum || reducer == Reducer::kMax ||
                        reducer == Reducer::kAny || reducer == Reducer::kPick;
    return Call(either ? Function::kOr : Function::kAnd, {a, b});
  }
  switch (reducer) {
    case Reducer::kSum: {
      if (!IsFloat(a.type) || IsHash(a.type)) return Call(Function::kAdd, {a, b});
      // The order of a sum is left open, which lets it be vectorised.
      auto flags = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
      return {b_.create<arith::AddFOp>(loc(), a.value, b.value, flags), a.type};
    }
    case Reducer::kProd: return Call(Function::kMul, {a, b});
    case Reducer::kMax: return Call(Function::kMax, {a, b});
    case Reducer::kMin: return Call(Function::kMin, {a, b});
    case Reducer::kAny: return Call(Function::kOr, {a, b});
    case Reducer::kAll: return Call(Function::kAnd, {a, b});
    case Reducer::kPick: return b;
    default: break;
  }
  YUBA_CHECK(false) << Name(reducer);
  return a;
}

Value ScalarBuilder::Less(Typed a, Typed b) { return Call(Function::kLt, {a, b}).value; }

Value ScalarBuilder::Int(int64_t value) { return IntegerConstant(b_.getI64Type(), value); }

Value ScalarBuilder::Add(Value a, Value b) {
  if (a.getDefiningOp<arith::ConstantOp>())
    std::swap(a, b);  // folding expects constants on the right
  return b_.createOrFold<arith::AddIOp>(loc(), a, b);
}
Value ScalarBuilder::Sub(Value a, Value b) { return b_.createOrFold<arith::SubIOp>(loc(), a, b); }
Value ScalarBuilder::Mul(Value a, Value b) {
  if (a.getDefiningOp<arith::ConstantOp>()) std::swap(a, b);
  return b_.createOrFold<arith::MulIOp>(loc(), a, b);
}
Value ScalarBuilder::Min(Value a, Value b) { return b_.createOrFold<arith::MinSIOp>(loc(), a, b); }
Value ScalarBuilder::Max(Value a, Value b) { return b_.createOrFold<arith::MaxSIOp>(loc(), a, b); }
Value ScalarBuilder::And(Value a, Value b) { return b_.createOrFold<arith::AndIOp>(loc(), a, b); }

Value ScalarBuilder::FloorDiv(Value a, int64_t positive) {
  YUBA_CHECK(positive > 0) << positive;
  if (positive == 1) return a;
  if ((positive & (positive - 1)) == 0) {
    int shift = 0;
    while ((int64_t{1} << shift) < positive) ++shift;
    return b_.create<arith::ShRSIOp>(loc(), a, Int(shift));
  }
  Value quotient = b_.create<arith::DivSIOp>(loc(), a, Int(positive));
  Value rest = Sub(a, Mul(quotient, Int(positive)));
  Value negative = b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::slt, rest, Int(0));
  return Sub(quotient, b_.create<arith::ExtUIOp>(loc(), b_.getI64Type(), negative));
}

Value ScalarBuilder::CeilDiv(Value a, int64_t positive) {
  return FloorDiv(Add(a, Int(positive - 1)), positive);
}

}  // namespace yuba::kernels
