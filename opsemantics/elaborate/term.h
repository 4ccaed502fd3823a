// What an expression of a description is while it is elaborated: a number known by now, an affine
// function of indices, or an expression of the core form. Numbers and indices have no type of their
// own yet: they take that of what they meet.
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
  Affine affine;                         // kAffine, never constant; its "positions" are variables
  ExprPtr expr;                          // kExpr
  bool flexible = false;                 // kExpr: reads no tensor, `type` (i64 or f64) may change

  bool IsStatic() const { return kind == kInteger || kind == kNumber; }
  // An integer, or a flexible expression of integers.
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

// How an integer divided by an integer is meant, both known: extents and indices round down; values
// are exact (1/3 is a number that is no integer).
enum class Division : uint8_t { kRoundDown, kExact };

// `function` of `args`, folded and simplified as far as is exact. Error messages have no place: the
// caller underlines it.
absl::StatusOr<Term> Apply(Function function, const std::vector<Term>& args, Division division);

// The term as an expression of type `type`; an error where that would need a cast.
absl::StatusOr<ExprPtr> Convert(const Term& term, ElementType type);
// With a cast where there must be one.
ExprPtr Cast(const Term& term, ElementType type);

// The type that values of both are computed in: that of the typed one; of a narrow and a wider
// float the wider. nullopt where neither has a type.
absl::StatusOr<absl::optional<ElementType>> CommonType(const std::vector<Term>& terms);

ExprPtr LiteralExpr(ElementType type, int64_t integer, double number);
ExprPtr CallExpr(Function function, std::vector<ExprPtr> args, ElementType type);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_TERM_H_
