#include "opsemantics/elaborate/term.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "opsemantics/base/status.h"
#include "opsemantics/definition/functions.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/elaborate/fold.h"

namespace yuba {
namespace {

ExprPtr CastExpr(ExprPtr arg, ElementType type) {
  return CallExpr(Function::kCast, {std::move(arg)}, type);
}

// An expression of numbers and indices in another type than the one it was built in.
ExprPtr Retype(const ExprPtr& expr, ElementType type) {
  if (expr->kind == Expr::kLiteral) {
    const double number = IsFloat(expr->type) ? expr->number : static_cast<double>(expr->integer);
    return LiteralExpr(type, expr->integer, number);
  }
  if (expr->kind == Expr::kCall && expr->function == Function::kSelect) {
    return CallExpr(Function::kSelect,
                    {expr->args[0], Retype(expr->args[1], type), Retype(expr->args[2], type)},
                    type);
  }
  // Integers are computed as such and converted last; floats are computed in the type itself.
  if (!IsFloat(expr->type)) return CastExpr(expr, type);
  if (expr->function == Function::kCast) return CastExpr(expr->args[0], type);
  std::vector<ExprPtr> args;
  for (const ExprPtr& arg : expr->args) args.push_back(Retype(arg, type));
  return CallExpr(expr->function, std::move(args), type);
}

absl::StatusOr<ExprPtr> ConvertNumber(double number, ElementType type) {
  if (IsFloat(type)) return LiteralExpr(type, 0, number);
  // Bounds may be infinite: as integers they are the ends of the type.
  if (std::isinf(number))
    return LiteralExpr(type, number > 0 ? GreatestInteger(type) : LeastInteger(type), 0);
  if (number != std::floor(number) || std::abs(number) > 9e15) {
    return UserError("the number ", number, " is no ", Name(type), "; write cast(...)");
  }
  return LiteralExpr(type, static_cast<int64_t>(number), 0.0);
}

bool IsLiteral(const Term& term, double value) {
  if (term.IsStatic()) return term.AsNumber() == value;
  if (term.kind != Term::kExpr || term.expr->kind != Expr::kLiteral) return false;
  const Expr& literal = *term.expr;
  return (IsFloat(literal.type) ? literal.number : static_cast<double>(literal.integer)) == value;
}

// The argument that is the result where the other does nothing: x of x + 0, x * 1, min(x, inf);
// else null.
const Term* Neutral(Function function, const std::vector<Term>& args) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto right = [&](double value) { return IsLiteral(args[1], value) ? &args[0] : nullptr; };
  const auto either = [&](double value) {
    return IsLiteral(args[0], value) ? &args[1] : right(value);
  };
  switch (function) {
    case Function::kAdd: return either(0);
    case Function::kSub: return right(0);
    case Function::kMul: return either(1);
    case Function::kDiv: return right(1);
    case Function::kMin: return either(kInfinity);
    case Function::kMax: return either(-kInfinity);
    default: return nullptr;
  }
}

// The largest constant or coefficient of an index expression.
constexpr int64_t kLargest = int64_t{1} << 50;

bool TooLarge(int64_t value) { return value > kLargest || value < -kLargest; }

bool TooLarge(const Affine& affine) {
  return TooLarge(affine.constant) ||
         std::any_of(affine.terms.begin(), affine.terms.end(),
                     [](const auto& term) { return TooLarge(term.second); });
}

Affine AffineOfTerm(const Term& term) {
  return term.kind == Term::kAffine ? term.affine : ConstantAffine(term.integer);
}

bool IsAffine(const Term& term) {
  return term.kind == Term::kAffine || term.kind == Term::kInteger;
}

// The result where it is affine in the indices; nullopt elsewhere.
absl::StatusOr<absl::optional<Term>> ApplyAffine(Function function, const std::vector<Term>& args) {
  if (!std::all_of(args.begin(), args.end(), IsAffine)) return {absl::nullopt};
  const Affine a = AffineOfTerm(args[0]);
  const Affine b = args.size() > 1 ? AffineOfTerm(args[1]) : Affine();
  if (TooLarge(a) || TooLarge(b)) return UserError("an index expression has too large numbers");
  Affine result;
  if (function == Function::kAdd) {
    result = a + b;
  } else if (function == Function::kSub) {
    result = a - b;
  } else if (function == Function::kNeg) {
    result = a * -1;
  } else if (function == Function::kMul && (a.IsConstant() || b.IsConstant())) {
    const Affine& factors = a.IsConstant() ? b : a;
    const int64_t factor = a.IsConstant() ? a.constant : b.constant;
    int64_t largest = std::abs(factors.constant), product = 0;
    for (const auto& term : factors.terms) largest = std::max(largest, std::abs(term.second));
    if (__builtin_mul_overflow(largest, std::abs(factor), &product) || product > kLargest) {
      return UserError("an index expression has too large numbers");
    }
    result = factors * factor;
  } else {
    return {absl::nullopt};
  }
  return {AffineTerm(std::move(result))};
}

absl::Status CheckArguments(const FunctionFacts& info, const std::vector<Term>& args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const Term& arg = args[i];
    if (arg.kind == Term::kType) return UserError("a type is no value");
    const bool is_bool = arg.IsTyped() && arg.type == ElementType::kBool;
    const bool is_int = arg.IsTyped() && !IsFloat(arg.type);
    const bool wants_bool =
        info.rule == TypeRule::kLogic || (info.rule == TypeRule::kSelect && i == 0);
    if (wants_bool && !is_bool && arg.kind != Term::kInteger) {
      return UserError("'", info.name, "' needs a bool, as a comparison gives");
    }
    if (is_bool && !wants_bool && info.rule != TypeRule::kSelect &&
        info.rule != TypeRule::kCompare) {
      return UserError("'", info.name, "' needs numbers, not a bool; write if c then 1 else 0");
    }
    if (info.rule == TypeRule::kFloat && is_int) {
      return UserError("'", info.name, "' needs a float, not ", Name(arg.type),
                       "; write cast(...)");
    }
    if (info.rule == TypeRule::kInteger && !arg.IsIntegral()) {
      return UserError("'", info.name, "' needs integers");
    }
  }
  return absl::OkStatus();
}

bool IsComparisonRule(TypeRule rule) { return rule == TypeRule::kCompare; }

// The type in which the arguments of a call that is not simplified are computed.
absl::StatusOr<ElementType> ArgumentType(const FunctionFacts& info,
                                         const std::vector<Term>& values) {
  bool all_integral = true, all_integer_types = true;
  for (const Term& value : values) {
    all_integral = all_integral && value.IsIntegral();
    all_integer_types = all_integer_types && value.IsIntegral() &&
                        value.type != ElementType::kBool && value.type != ElementType::kU64;
  }
  // Comparing integers of different types is harmless, where 64 bits hold both.
  if (IsComparisonRule(info.rule)) {
    bool differ = false;
    for (const Term& value : values) {
      differ = differ || value.kind == Term::kAffine ||
               (value.IsTyped() && values[0].IsTyped() && value.type != values[0].type);
    }
    if (differ && all_integral && all_integer_types) return ElementType::kI64;
  }
  YUBA_ASSIGN_OR_RETURN(const absl::optional<ElementType> common, CommonType(values));
  if (common) return *common;
  return all_integral && info.rule != TypeRule::kFloat ? ElementType::kI64 : ElementType::kF64;
}

absl::StatusOr<Term> Generic(const FunctionFacts& info, const std::vector<Term>& args) {
  YUBA_RETURN_IF_ERROR(CheckArguments(info, args));
  if (info.rule == TypeRule::kLogic) {
    std::vector<ExprPtr> converted;
    for (const Term& arg : args) {
      YUBA_ASSIGN_OR_RETURN(ExprPtr expr, Convert(arg, ElementType::kBool));
      converted.push_back(std::move(expr));
    }
    return ExprTerm(CallExpr(info.function, std::move(converted), ElementType::kBool),
                    ElementType::kBool);
  }
  const bool select = info.rule == TypeRule::kSelect;
  const std::vector<Term> values(args.begin() + (select ? 1 : 0), args.end());
  YUBA_ASSIGN_OR_RETURN(const ElementType type, ArgumentType(info, values));
  std::vector<ExprPtr> converted;
  if (select) {
    YUBA_ASSIGN_OR_RETURN(ExprPtr condition, Convert(args[0], ElementType::kBool));
    converted.push_back(std::move(condition));
  }
  bool flexible = true;
  for (const Term& value : values) {
    flexible = flexible && !value.IsTyped();
    // Integers that are compared may have different types.
    const bool widen = IsComparisonRule(info.rule) && value.IsTyped() && !IsFloat(type);
    if (widen && value.type != type) {
      converted.push_back(CastExpr(value.expr, type));
      continue;
    }
    YUBA_ASSIGN_OR_RETURN(ExprPtr expr, Convert(value, type));
    converted.push_back(std::move(expr));
  }
  if (info.rule == TypeRule::kCompare) {
    return ExprTerm(CallExpr(info.function, std::move(converted), ElementType::kBool),
                    ElementType::kBool);
  }
  Term result = ExprTerm(CallExpr(info.function, std::move(converted), type), type);
  result.flexible = flexible;
  return result;
}

}  // namespace

Term IntegerTerm(int64_t value) {
  Term term;
  term.integer = value;
  return term;
}

Term NumberTerm(double value) {
  Term term;
  term.kind = Term::kNumber;
  term.number = value;
  return term;
}

Term TypeTerm(ElementType type) {
  Term term;
  term.kind = Term::kType;
  term.type = type;
  return term;
}

Term AffineTerm(Affine affine) {
  if (affine.IsConstant()) return IntegerTerm(affine.constant);
  Term term;
  term.kind = Term::kAffine;
  term.affine = std::move(affine);
  return term;
}

Term ExprTerm(ExprPtr expr, ElementType type) {
  Term term;
  term.kind = Term::kExpr;
  term.expr = std::move(expr);
  term.type = type;
  return term;
}

absl::StatusOr<absl::optional<ElementType>> CommonType(const std::vector<Term>& terms) {
  absl::optional<ElementType> common;
  for (const Term& term : terms) {
    if (!term.IsTyped()) continue;
    const ElementType type = term.type;
    if (!common || *common == type) {
      common = type;
    } else if (IsFloat(*common) && IsFloat(type) && AccumulatorType(*common) == type) {
      common = type;
    } else if (!(IsFloat(*common) && IsFloat(type) && AccumulatorType(type) == *common)) {
      return UserError("the types ", Name(*common), " and ", Name(type),
                       " meet here; write cast(...)");
    }
  }
  return common;
}

absl::StatusOr<ExprPtr> Convert(const Term& term, ElementType type) {
  switch (term.kind) {
    case Term::kInteger:
      if (!IsFloat(type) &&
          (term.integer < LeastInteger(type) || WrapInteger(term.integer, type) != term.integer)) {
        return UserError("the integer ", term.integer, " does not fit ", Name(type));
      }
      return LiteralExpr(type, term.integer, static_cast<double>(term.integer));
    case Term::kNumber: return ConvertNumber(term.number, type);
    case Term::kType: return UserError("a type is no value");
    case Term::kAffine:
      if (type == ElementType::kBool) return UserError("an index is no bool; compare it");
      return type == ElementType::kI64 ? IndexExpr(term.affine)
                                       : CastExpr(IndexExpr(term.affine), type);
    case Term::kExpr: break;
  }
  if (term.type == type) return term.expr;
  if (term.flexible) {
    if (IsFloat(term.type) && !IsFloat(type)) {
      return UserError("a value with fractions meets ", Name(type), "; write cast(...)");
    }
    if (type == ElementType::kBool) return UserError("a number is no bool; compare it");
    return IsFloat(term.type) || term.expr->function == Function::kSelect
               ? Retype(term.expr, type)
               : CastExpr(term.expr, type);
  }
  if (IsFloat(term.type) && AccumulatorType(term.type) == type) {
    return CastExpr(term.expr, type);
  }
  return UserError("this is ", Name(term.type), ", but ", Name(type),
                   " is needed; write cast(...)");
}

ExprPtr Cast(const Term& term, ElementType type) {
  if (const auto converted = Convert(term, type); converted.ok()) return *converted;
  if (term.kind == Term::kExpr) return CastExpr(term.expr, type);
  if (term.kind == Term::kAffine) return CastExpr(IndexExpr(term.affine), type);
  return CastExpr(LiteralExpr(ElementType::kF64, 0, term.AsNumber()), type);
}

namespace {

// The result of `and` and `or` where one side is known, which settles it; else null.
const Term* Decided(Function function, const std::vector<Term>& args) {
  if (function != Function::kAnd && function != Function::kOr) return nullptr;
  const int known = args[0].kind == Term::kInteger ? 0 : 1;
  if (args[known].kind != Term::kInteger) return nullptr;
  const bool truth = args[known].integer != 0;
  return truth == (function == Function::kAnd) ? &args[1 - known] : &args[known];
}

}  // namespace

absl::StatusOr<Term> Apply(Function function, const std::vector<Term>& args, Division division) {
  const FunctionFacts& info = FactsOf(function);
  if (std::all_of(args.begin(), args.end(), [](const Term& arg) { return arg.IsStatic(); })) {
    return Fold(function, args, division);
  }
  YUBA_ASSIGN_OR_RETURN(absl::optional<Term> affine, ApplyAffine(function, args));
  if (affine) return *std::move(affine);
  YUBA_RETURN_IF_ERROR(CheckArguments(info, args));
  if (const Term* neutral = Neutral(function, args)) return *neutral;
  if (const Term* decided = Decided(function, args)) return *decided;
  if (function == Function::kSelect && args[0].kind == Term::kInteger) {
    return args[0].integer != 0 ? args[1] : args[2];
  }
  return Generic(info, args);
}

}  // namespace yuba
