// Terms of derivatives: calls that are simplified where an argument is a literal. All arguments and
// results are floats of one type, but for conditions.
//
// Example: Product(Number(1, kF32), t) is t, Product(Chosen(c, a, 0), t) is Chosen(c, a * t, 0).
#ifndef YUBA_OPSEMANTICS_GRADIENT_TERMS_H_
#define YUBA_OPSEMANTICS_GRADIENT_TERMS_H_

#include "opsemantics/definition/definition.h"

namespace yuba {

bool IsCallOf(const Expr& term, Function function);
ExprPtr Number(double value, ElementType type);
// Whether the term is the literal `value`, of any type.
bool IsNumber(const Expr& term, double value);

ExprPtr Sum(const ExprPtr& a, const ExprPtr& b);
ExprPtr Negated(const ExprPtr& a);
// A factor that chooses between a term and 0 chooses between the product and 0: so what is not
// chosen is not computed, and a choice by indices can become a constraint (solve.h).
ExprPtr Product(const ExprPtr& a, const ExprPtr& b);
ExprPtr Quotient(const ExprPtr& a, const ExprPtr& b);
// `a` where the condition holds, else `b`.
ExprPtr Chosen(const ExprPtr& condition, const ExprPtr& a, const ExprPtr& b);
// `function` of one argument, without any simplification.
ExprPtr Of(Function function, const ExprPtr& a);

// Both of two conditions. Null stands for a condition that always holds.
ExprPtr Both(const ExprPtr& a, const ExprPtr& b);
// Whether the constraint holds, which has no table.
ExprPtr ConditionOf(const Constraint& constraint);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_GRADIENT_TERMS_H_
