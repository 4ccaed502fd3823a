#include "opsemantics/elaborate/fold.h"

#include <algorithm>
#include <limits>

#include "opsemantics/base/arithmetic.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/functions.h"

namespace yuba {
namespace {

absl::StatusOr<Term> Overflow() { return UserError("integers overflow 64 bits here"); }

absl::StatusOr<Term> Divide(int64_t a, int64_t b, Division division) {
  if (b == 0) return UserError("this divides by 0");
  if (b == -1 && a == std::numeric_limits<int64_t>::min()) return Overflow();
  if (division == Division::kRoundDown) return IntegerTerm(FloorDiv(a, b));
  if (a % b == 0) return IntegerTerm(a / b);
  return NumberTerm(static_cast<double>(a) / static_cast<double>(b));
}

// nullopt where the function has no result in integers.
absl::StatusOr<absl::optional<Term>> FoldIntegers(Function function, int64_t a, int64_t b,
                                                  Division division) {
  int64_t result = 0;
  bool overflow = false;
  switch (function) {
    case Function::kAdd: overflow = __builtin_add_overflow(a, b, &result); break;
    case Function::kSub: overflow = __builtin_sub_overflow(a, b, &result); break;
    case Function::kMul: overflow = __builtin_mul_overflow(a, b, &result); break;
    case Function::kSq: overflow = __builtin_mul_overflow(a, a, &result); break;
    case Function::kNeg: overflow = __builtin_sub_overflow(int64_t{0}, a, &result); break;
    case Function::kAbs:
      overflow = a < 0 && __builtin_sub_overflow(int64_t{0}, a, &result);
      if (a >= 0) result = a;
      break;
    case Function::kMin: result = std::min(a, b); break;
    case Function::kMax: result = std::max(a, b); break;
    case Function::kSign: result = (a > 0) - (a < 0); break;
    case Function::kFloor:
    case Function::kCeil:
    case Function::kRound: result = a; break;
    case Function::kWrap:
      overflow = a < 0 && __builtin_add_overflow(a, b, &result);
      if (a >= 0) result = a;
      break;
    case Function::kMod:
      if (b == 0) return UserError("this divides by 0");
      result = b == -1 ? 0 : a - FloorDiv(a, b) * b;
      break;
    case Function::kEq: result = a == b; break;
    case Function::kNe: result = a != b; break;
    case Function::kLt: result = a < b; break;
    case Function::kLe: result = a <= b; break;
    case Function::kDiv: {
      YUBA_ASSIGN_OR_RETURN(Term quotient, Divide(a, b, division));
      return {quotient};
    }
    default: return {absl::nullopt};
  }
  if (overflow) return Overflow().status();
  return {IntegerTerm(result)};
}

// A label that the description itself says.
absl::StatusOr<Term> FoldLabel(const std::vector<Term>& args) {
  for (const Term& arg : args) {
    if (arg.kind != Term::kInteger) return UserError("'label' needs integers");
  }
  const int64_t value = args[0].integer;
  if (value == args[2].integer) return IntegerTerm(-1);
  if (value >= 0 && value < args[1].integer) return args[0];
  return UserError(value, " is no class of ", args[1].integer);
}

}  // namespace

absl::StatusOr<Term> Fold(Function function, const std::vector<Term>& args, Division division) {
  const Term& a = args[0];
  const Term& b = args.size() > 1 ? args[1] : args[0];
  if (function == Function::kSelect) return a.AsNumber() != 0 ? args[1] : args[2];
  if (function == Function::kLabel) return FoldLabel(args);
  if (a.kind == Term::kInteger && b.kind == Term::kInteger) {
    YUBA_ASSIGN_OR_RETURN(const absl::optional<Term> folded,
                          FoldIntegers(function, a.integer, b.integer, division));
    if (folded) return *folded;
  }
  const FunctionFacts& facts = FactsOf(function);
  if (facts.rule == TypeRule::kInteger) return UserError("'", facts.name, "' needs integers");
  const double value = facts.value(a.AsNumber(), b.AsNumber());
  const bool truth = facts.rule == TypeRule::kCompare || facts.rule == TypeRule::kLogic;
  return truth ? IntegerTerm(value != 0 ? 1 : 0) : NumberTerm(value);
}

}  // namespace yuba
