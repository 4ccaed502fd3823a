// Terms: the value of an expression of a description while it is elaborated. A term is a number
// that is known already, an element type, an affine function of indices, or an expression of the
// core form. Numbers and indices have no element type yet: they take the type of the expression
// that they meet. Terms are simplified as they are built.
//
// Example: with stride = 1, p*stride + u - 0 is the kAffine p + u; 2 * x[p] with x of f16 is a
// kExpr of type f16 in which 2 is an f16 literal.
#ifndef YUBA_OPSEMANTICS_ELABORATE_TERM_H_
#define YUBA_OPSEMANTICS_ELABORATE_TERM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

struct Term {
  enum Kind : uint8_t { kInteger, kNumber, kType, kAffine, kExpr };
  Kind kind = kInteger;
  int64_t integer = 0;                   // kInteger
  double number = 0;                     // kNumber
  ElementType type = ElementType::kF32;  // kType; kExpr: the type of its value
  Affine affine;                         // kAffine, never constant; its indices are variables
                                         // (InstanceBuilder)
  ExprPtr expr;                          // kExpr
  bool flexible = false;                 // kExpr: reads no tensor, `type` (i64 or f64) may change

  bool IsStatic() const { return kind == kInteger || kind == kNumber; }  // known by now
  // Whether the value is an integer: a number, an affine function, an expression of integers.
  bool IsIntegral() const {
    return kind == kInteger || kind == kAffine || (kind == kExpr && !IsFloat(type));
  }
  bool IsTyped() const { return kind == kExpr && !flexible; }
  double AsNumber() const { return kind == kInteger ? static_cast<double>(integer) : number; }
};

Term IntegerTerm(int64_t value);
Term NumberTerm(double value);
Term TypeTerm(ElementType type);
Term AffineTerm(Affine affine);  // an integer if it is constant
Term ExprTerm(ExprPtr expr, ElementType type);

// What a known integer divided by a known integer is: in extents and indices it is rounded down; in
// values it is exact, so that 1/3 is a number that is no integer.
enum class Division : uint8_t { kRoundDown, kExact };

// `function` of `args`, folded and simplified as far as that is exact. Errors (types that do not
// fit, overflow, division by 0) have no place in the text; the caller underlines.
absl::StatusOr<Term> Apply(Function function, const std::vector<Term>& args, Division division);

// The term as an expression of type `type`. Known numbers, indices and f16 or bf16 where f32 is
// wanted convert by themselves; an error where a description would have to write a cast.
absl::StatusOr<ExprPtr> Convert(const Term& term, ElementType type);
// The term as an expression of type `type`, with a cast where it needs one.
ExprPtr Cast(const Term& term, ElementType type);

// The type in which the terms are computed together: the type of those that have one; f32 where f16
// or bf16 meets it. nullopt where no term has a type; an error where the types do not fit.
absl::StatusOr<absl::optional<ElementType>> CommonType(const std::vector<Term>& terms);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_TERM_H_
