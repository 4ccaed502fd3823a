// The functions of bodies in hash arithmetic: operation by operation what
// opsemantics/oracle/hash_arithmetic.h computes.
#include "compiler/kernels/scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "opsemantics/base/check.h"
#include "opsemantics/oracle/hash_arithmetic.h"

namespace yuba::kernels {

using mlir::Value;
namespace arith = mlir::arith;

double ScalarBuilder::RoundedTo(ElementType type, double number) {
  if (type == ElementType::kF64) return number;
  llvm::APFloat value(number);
  bool loses = false;
  const llvm::fltSemantics& semantics = type == ElementType::kF16    ? llvm::APFloat::IEEEhalf()
                                        : type == ElementType::kBF16 ? llvm::APFloat::BFloat()
                                                                     : llvm::APFloat::IEEEsingle();
  value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

Typed ScalarBuilder::HashLiteral(const Expr& literal) {
  const uint64_t element = HashOf(RoundedTo(literal.type, literal.number));
  return {Int(static_cast<int64_t>(element)), literal.type};
}

// Between a float and an integer type.
Typed ScalarBuilder::HashConvert(Typed value, ElementType to) {
  if (IsFloat(to)) return {IntegerConvert(value, ElementType::kI64).value, to};
  if (to == ElementType::kI64) return {value.value, to};
  return IntegerConvert({value.value, ElementType::kI64}, to);
}

Value ScalarBuilder::HashMixed(Value element, uint64_t salt) {
  auto shift_xor = [&](Value v, int by) -> Value {
    Value shifted = b_.create<arith::ShRUIOp>(loc(), v, Int(by));
    return b_.create<arith::XOrIOp>(loc(), v, shifted);
  };
  Value mixed = Add(element, Int(static_cast<int64_t>(salt)));
  mixed = Mul(shift_xor(mixed, 30), Int(static_cast<int64_t>(0x94d049bb133111ebu)));
  mixed = Mul(shift_xor(mixed, 27), Int(static_cast<int64_t>(0xd6e8feb86659fd93u)));
  mixed = shift_xor(mixed, 32);
  return b_.create<arith::OrIOp>(loc(), mixed, Int(1));
}

Value ScalarBuilder::HashRanked(Value element) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  constexpr uint64_t kOrigin = 0 - HashRank(0);
  Value shifted = b_.create<arith::ShRUIOp>(loc(), element, Int(32));
  Value folded = b_.create<arith::XOrIOp>(loc(), element, shifted);
  Value product = Mul(folded, Int(static_cast<int64_t>(kMultiplier)));
  return Sub(product, Int(static_cast<int64_t>(kOrigin)));
}

Typed ScalarBuilder::HashCall(Function function, const std::vector<Typed>& args) {
  const ElementType type = args[0].type;
  Value a = args[0].value;
  Value b = args.size() > 1 ? args[1].value : Value();
  auto compare = [&](arith::CmpIPredicate order, bool ranked) -> Value {
    Value left = ranked ? HashRanked(a) : a;
    Value right = ranked ? HashRanked(b) : b;
    return b_.create<arith::CmpIOp>(loc(), order, left, right);
  };
  switch (function) {
    case Function::kAdd: return {Add(a, b), type};
    case Function::kSub: return {Sub(a, b), type};
    case Function::kMul: return {Mul(a, b), type};
    case Function::kNeg: return {Sub(Int(0), a), type};
    case Function::kSq: return {Mul(a, a), type};
    case Function::kDiv: return {Mul(a, HashMixed(b, kHashDivide)), type};
    case Function::kMax:
    case Function::kMin: {
      const bool max = function == Function::kMax;
      Value second = compare(max ? arith::CmpIPredicate::ult : arith::CmpIPredicate::ugt, true);
      return {b_.create<arith::SelectOp>(loc(), second, b, a), type};
    }
    case Function::kLt: return {compare(arith::CmpIPredicate::ult, true), ElementType::kBool};
    case Function::kLe: return {compare(arith::CmpIPredicate::ule, true), ElementType::kBool};
    case Function::kEq: return {compare(arith::CmpIPredicate::eq, false), ElementType::kBool};
    case Function::kNe: return {compare(arith::CmpIPredicate::ne, false), ElementType::kBool};
    default: break;
  }
  YUBA_CHECK(args.size() <= 2) << Name(function);
  const Value mixed = HashMixed(a, HashSalt(function));
  return {b ? HashMixed(Add(mixed, b), HashSalt(function)) : mixed, type};
}

// index mod extent, in [0, extent); 0 where the extent is not positive.
Value ScalarBuilder::HashWrap(Value index, Value extent) {
  Value zero = IntegerConstant(index.getType(), 0);
  Value none = b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::sle, extent, zero);
  Value safe = b_.create<arith::SelectOp>(loc(), none, IntegerConstant(index.getType(), 1), extent);
  Value rest = b_.create<arith::RemSIOp>(loc(), index, safe);
  Value negative = b_.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::slt, rest, zero);
  return b_.create<arith::SelectOp>(loc(), negative, Add(rest, safe), rest);
}

}  // namespace yuba::kernels
