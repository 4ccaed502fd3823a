#include "compiler/attention/score.h"

#include <cstdlib>
#include <utility>

namespace yuba::compiler {
namespace {

bool IsCall(const Expr& expr, Function function) {
  return expr.kind == Expr::kCall && expr.function == function;
}

absl::optional<double> NumberOf(const Expr& expr) {
  if (expr.kind != Expr::kLiteral || !IsFloat(expr.type)) return absl::nullopt;
  return expr.number;
}

// A sum of multiples of indices and an integer; casts between integers change none of the indices
// that there are.
absl::optional<Affine> AffineOf(const Expr& expr) {
  if (expr.kind == Expr::kIndex) return expr.affine;
  if (expr.kind == Expr::kLiteral && !IsFloat(expr.type)) return ConstantAffine(expr.integer);
  if (expr.kind != Expr::kCall) return absl::nullopt;
  if (expr.function == Function::kCast) return AffineOf(*expr.args[0]);
  if (expr.args.size() != 2) return absl::nullopt;
  const auto a = AffineOf(*expr.args[0]), b = AffineOf(*expr.args[1]);
  if (!a.has_value() || !b.has_value()) return absl::nullopt;
  switch (expr.function) {
    case Function::kAdd: return *a + *b;
    case Function::kSub: return *a - *b;
    case Function::kMul:
      if (a->IsConstant()) return *b * a->constant;
      if (b->IsConstant()) return *a * b->constant;
      return absl::nullopt;
    default: return absl::nullopt;
  }
}

// The affine function that is at most 0 where the condition holds.
absl::optional<Affine> AtMostZero(const Expr& condition, bool holds) {
  if (IsCall(condition, Function::kNot)) return AtMostZero(*condition.args[0], !holds);
  const bool or_equal = IsCall(condition, Function::kLe);
  if (!or_equal && !IsCall(condition, Function::kLt)) return absl::nullopt;
  const auto a = AffineOf(*condition.args[0]), b = AffineOf(*condition.args[1]);
  if (!a.has_value() || !b.has_value()) return absl::nullopt;
  // a <= b, a < b, or where they do not hold b < a, b <= a.
  const Affine difference = holds ? *a - *b : *b - *a;
  return difference + ConstantAffine(or_equal == holds ? 0 : 1);
}

// What a causal mask hides, and what it leaves.
struct Hidden {
  AttentionMask mask;
  ExprPtr others;
};

// if visible then others else a number, or the other way round
absl::optional<Hidden> HiddenBy(const Expr& select) {
  const auto if_true = NumberOf(*select.args[1]), if_false = NumberOf(*select.args[2]);
  if (if_true.has_value() == if_false.has_value()) return absl::nullopt;
  const bool visible = !if_true.has_value();
  const auto condition = AtMostZero(*select.args[0], visible);
  if (!condition.has_value()) return absl::nullopt;
  Hidden found;
  found.others = select.args[visible ? 1 : 2];
  AttentionMask& mask = found.mask;
  mask.causal = true;
  mask.hidden = visible ? *if_false : *if_true;
  // key - query - offset <= 0
  mask.offset = -condition->constant;
  for (const auto& [dim, factor] : condition->terms) {
    int& place = factor == 1 ? mask.key_dim : mask.query_dim;
    if (std::abs(factor) != 1 || place >= 0) return absl::nullopt;
    place = dim;
  }
  if (mask.key_dim < 0 || mask.query_dim < 0) return absl::nullopt;
  return found;
}

class Matcher {
 public:
  explicit Matcher(TensorId products) : products_(products) {}

  bool Match(const ExprPtr& expr) {
    if (expr->kind == Expr::kRead) return expr->operand == products_ && expr->args.empty();
    if (expr->kind != Expr::kCall) return false;
    switch (expr->function) {
      case Function::kMul:
        return MatchProduct(*expr->args[0], expr->args[1]) ||
               MatchProduct(*expr->args[1], expr->args[0]);
      case Function::kDiv: {
        const auto number = NumberOf(*expr->args[1]);
        return number.has_value() && Match(expr->args[0]) && Scale(1 / *number);
      }
      case Function::kAdd:
        return MatchSum(*expr->args[0], expr->args[1]) || MatchSum(*expr->args[1], expr->args[0]);
      case Function::kSelect: return MatchSelect(*expr);
      default: return false;
    }
  }

  Score score() { return std::move(score_); }

 private:
  // A number times scores, before anything is added or hidden.
  bool MatchProduct(const Expr& factor, const ExprPtr& other) {
    const auto number = NumberOf(factor);
    return number.has_value() && Match(other) && Scale(*number);
  }

  bool Scale(double factor) {
    if (score_.mask.bias >= 0 || score_.mask.causal) return false;
    score_.scale *= factor;
    return true;
  }

  // A bias is read along dimensions of the scores, and added before anything is hidden.
  bool MatchSum(const Expr& bias, const ExprPtr& other) {
    AttentionMask& mask = score_.mask;
    if (bias.kind != Expr::kRead || bias.operand == products_ || !bias.args.empty() ||
        !Match(other) || mask.bias >= 0 || mask.causal) {
      return false;
    }
    mask.bias = bias.operand;
    for (const Affine& affine : bias.position) {
      if (affine.BareIndex() < 0 && !(affine == Affine())) return false;
      mask.bias_dims.push_back(affine.BareIndex());
    }
    return true;
  }

  bool MatchSelect(const Expr& select) {
    const absl::optional<Hidden> hidden = HiddenBy(select);
    if (!hidden.has_value() || !Match(hidden->others) || score_.mask.causal) return false;
    const TensorId bias = score_.mask.bias;
    std::vector<int> bias_dims = std::move(score_.mask.bias_dims);
    score_.mask = hidden->mask;
    score_.mask.bias = bias;
    score_.mask.bias_dims = std::move(bias_dims);
    return true;
  }

  const TensorId products_;
  Score score_;
};

}  // namespace

absl::optional<Score> MatchScore(const ExprPtr& element, TensorId products) {
  Matcher matcher(products);
  if (!matcher.Match(element)) return absl::nullopt;
  return matcher.score();
}

absl::optional<Scaled> MatchScaled(const ExprPtr& element) {
  if (element->kind != Expr::kCall) return Scaled{element, 1, {}};
  const auto times = [](const ExprPtr& value, double factor) {
    absl::optional<Scaled> scaled = MatchScaled(value);
    if (scaled.has_value()) scaled->scale *= factor;
    return scaled;
  };
  const auto& args = element->args;
  switch (element->function) {
    case Function::kNeg: return times(args[0], -1);
    case Function::kDiv:
      if (const auto number = NumberOf(*args[1])) return times(args[0], 1 / *number);
      break;
    case Function::kMul:
      if (const auto number = NumberOf(*args[0])) return times(args[1], *number);
      if (const auto number = NumberOf(*args[1])) return times(args[0], *number);
      break;
    case Function::kSelect: {
      const absl::optional<Hidden> hidden = HiddenBy(*element);
      if (!hidden.has_value() || hidden->mask.hidden != 0) break;
      absl::optional<Scaled> scaled = MatchScaled(hidden->others);
      if (!scaled.has_value() || scaled->mask.causal) return absl::nullopt;
      scaled->mask = hidden->mask;
      return scaled;
    }
    default: break;
  }
  return Scaled{element, 1, {}};
}

bool HideTheSame(const AttentionMask& a, const AttentionMask& b) {
  return a.causal == b.causal && a.query_dim == b.query_dim && a.key_dim == b.key_dim &&
         a.offset == b.offset;
}

}  // namespace yuba::compiler
