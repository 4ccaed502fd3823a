// Terms of bodies, one by one. Nothing is checked, folded or shared (shared_terms.h shares).
//
// The body of y[i] = 2 * x[i], of f32:
//   CallExpr(Function::kMul,
//            {LiteralExpr(kF32, 0, 2.0), ReadExpr(0, {IndexAffine(0)}, kF32)}, kF32)
#ifndef YUBA_OPSEMANTICS_DEFINITION_MAKE_EXPR_H_
#define YUBA_OPSEMANTICS_DEFINITION_MAKE_EXPR_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

// `number` where the type is a float, else `integer`.
ExprPtr LiteralExpr(ElementType type, int64_t integer, double number);

// The value of `affine`, an i64.
ExprPtr IndexExpr(Affine affine);

// Operand `operand` at `position`, one entry for each of its dimensions; `type` is the operand's.
// `outside` is the value outside of the operand; null: no position lies there.
ExprPtr ReadExpr(int operand, std::vector<Affine> position, ElementType type,
                 ExprPtr outside = nullptr);

ExprPtr CallExpr(Function function, std::vector<ExprPtr> args, ElementType type);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_MAKE_EXPR_H_
