// Random numbers in kernels: operation by operation what opsemantics/base/philox.h computes.
// Words of 32 bits stand in the low halves of 64-bit values, whose high halves are anything:
// products of 32 by 32 bits are what vector units have, and they look at low halves alone.
#include "compiler/kernels/scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "opsemantics/base/philox.h"

namespace yuba::kernels {

using mlir::Value;
namespace arith = mlir::arith;

Typed ScalarBuilder::RandomCall(const std::vector<Typed>& args) {
  auto low = [&](Value v) -> Value { return b_.create<arith::AndIOp>(loc(), v, Int(0xffffffff)); };
  auto high = [&](Value v) -> Value { return b_.create<arith::ShRUIOp>(loc(), v, Int(32)); };
  auto mixed = [&](Value a, Value b, Value c) -> Value {
    return b_.create<arith::XOrIOp>(loc(), b_.create<arith::XOrIOp>(loc(), a, b), c);
  };
  Value key0 = Convert(args[0], ElementType::kI64).value, key1 = high(key0);
  const Value count = Convert(args[1], ElementType::kI64).value;
  const Value element = Convert(args[2], ElementType::kI64).value;
  Value c[4] = {element, high(element), count, high(count)};
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const Value product0 = Mul(low(c[0]), Int(kPhiloxMultiplier0));
    const Value product1 = Mul(low(c[2]), Int(kPhiloxMultiplier1));
    c[0] = mixed(high(product1), c[1], key0);
    c[1] = product1;
    c[2] = mixed(high(product0), c[3], key1);
    c[3] = product0;
    key0 = Add(key0, Int(kPhiloxWeyl0));
    key1 = Add(key1, Int(kPhiloxWeyl1));
  }
  if (arithmetic_ == Arithmetic::kHash) {
    Value second = b_.create<arith::ShLIOp>(loc(), c[1], Int(32));
    return {b_.create<arith::OrIOp>(loc(), low(c[0]), second), ElementType::kF32};
  }
  Value word = b_.create<arith::TruncIOp>(loc(), b_.getI32Type(), c[0]);
  Value bits =
      b_.create<arith::ShRUIOp>(loc(), word, IntegerConstant(b_.getI32Type(), 8));  // of 24
  Value number = b_.create<arith::SIToFPOp>(loc(), b_.getF32Type(), bits);
  return {b_.create<arith::MulFOp>(loc(), number, Constant(ElementType::kF32, 0x1p-24)),
          ElementType::kF32};
}

}  // namespace yuba::kernels
