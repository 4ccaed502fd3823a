// One element at a time: the arithmetic of kernel bodies in MLIR. Values are computed in another
// type than they are stored in: f16 and bf16 as f32, integers of 8 and 16 bits as i32, u32 as i64,
// bool as i1. In hash
// arithmetic every float is an element of Z/2^64, an i64 in memory and in registers. The rules are
// those of the interpreter (opsemantics/oracle/scalar.h), which tests compare with.
#ifndef YUBA_COMPILER_KERNELS_SCALARS_H_
#define YUBA_COMPILER_KERNELS_SCALARS_H_

#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/kernels/targets.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/oracle/interpret.h"

namespace yuba::kernels {

// A value in a register, and the element type that it stands for. An f16 has an f32 `value`.
struct Typed {
  mlir::Value value;
  ElementType type = ElementType::kF32;
};

class ScalarBuilder {
 public:
  ScalarBuilder(mlir::OpBuilder& builder, mlir::ModuleOp module, const KernelTarget& target)
      : b_(builder), module_(module), arithmetic_(target.arithmetic), target_(*target.facts) {}

  mlir::Type StoredType(ElementType type);  // in memory
  mlir::Type ValueType(ElementType type);   // in registers
  Typed FromStored(mlir::Value stored, ElementType type);
  mlir::Value ToStored(Typed value, ElementType type);

  Typed Literal(const Expr& literal);
  Typed Convert(Typed value, ElementType type);
  Typed Call(Function function, std::vector<Typed> args);
  // The type in which the sides of a kSelect, or the operands of a kAdd and the like, meet.
  ElementType CommonType(ElementType a, ElementType b);

  Typed Identity(Reducer reducer, ElementType type);
  // Of every reducer but kArgMax and kArgMin, whose accumulators also have a position.
  Typed Combine(Reducer reducer, Typed a, Typed b);
  mlir::Value Less(Typed a, Typed b);

  // 64-bit integers for offsets and bounds; operations on constants are folded.
  mlir::Value Int(int64_t value);
  mlir::Value Add(mlir::Value a, mlir::Value b);
  mlir::Value Sub(mlir::Value a, mlir::Value b);
  mlir::Value Mul(mlir::Value a, mlir::Value b);
  mlir::Value Min(mlir::Value a, mlir::Value b);
  mlir::Value Max(mlir::Value a, mlir::Value b);
  mlir::Value FloorDiv(mlir::Value a, int64_t positive);
  mlir::Value CeilDiv(mlir::Value a, int64_t positive);
  mlir::Value And(mlir::Value a, mlir::Value b);  // of i1
  mlir::Location loc() { return b_.getUnknownLoc(); }

 private:
  bool IsHash(ElementType type) const { return arithmetic_ == Arithmetic::kHash && IsFloat(type); }
  mlir::Value Constant(ElementType type, double number);
  mlir::Value IntegerConstant(mlir::Type type, int64_t value);
  Typed FloatCall(Function function, const std::vector<Typed>& args);
  mlir::Value SmallPower(mlir::Value base, mlir::Value exponent);
  Typed IntegerCall(Function function, const std::vector<Typed>& args);
  Typed HashCall(Function function, const std::vector<Typed>& args);
  Typed RandomCall(const std::vector<Typed>& args);
  Typed LogicCall(Function function, const std::vector<Typed>& args);
  Typed BoolCall(Function function, const std::vector<Typed>& args);
  Typed ThroughFloat(Function function, const std::vector<Typed>& args);
  Typed HashLiteral(const Expr& literal);
  mlir::Value HashMixed(mlir::Value element, uint64_t salt);
  mlir::Value HashRanked(mlir::Value element);
  mlir::Value HashWrap(mlir::Value index, mlir::Value extent);
  mlir::Value Label(mlir::Value value, mlir::Value classes, mlir::Value ignored);
  mlir::Value MinMax(mlir::Value a, mlir::Value b, bool max);
  mlir::Value Sign(mlir::Value a, ElementType type);
  Typed Compare(Function function, Typed a, Typed b);
  mlir::Value SafeDivide(mlir::Value a, mlir::Value b, bool remainder);
  mlir::Value DivideUnsigned(mlir::Value a, mlir::Value b, bool remainder);
  absl::optional<Typed> UnsignedCall(Function function, const std::vector<Typed>& args);
  Typed HashConvert(Typed value, ElementType to);
  Typed IntegerConvert(Typed value, ElementType to);
  Typed FloatToInteger(mlir::Value value, ElementType to);
  Typed NarrowInteger(mlir::Value value, ElementType to);
  mlir::Value Widened(mlir::Value stored, ElementType type);
  mlir::Value Power(Typed base, Typed exponent);
  mlir::Value PowerOfUnsigned(mlir::Value x, mlir::Value n);
  static double RoundedTo(ElementType type, double number);
  mlir::Value FloatFromBFloat(mlir::Value bits);
  mlir::Value BFloatFromFloat(mlir::Value value);
  // A call of a function of libm, or of the target's device library, on floats of `type`.
  mlir::Value Library(const std::string& name, ElementType type,
                      const std::vector<mlir::Value>& args);

  mlir::OpBuilder& b_;
  mlir::ModuleOp module_;
  Arithmetic arithmetic_;
  const TargetFacts& target_;
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_SCALARS_H_
