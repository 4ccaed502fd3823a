#include "opsemantics/regions/post_ops.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "opsemantics/regions/structure.h"

namespace yuba {
namespace {

// Exporters write constants rounded to f32, which changes less.
bool IsNumber(double value, double expected) {
  return std::abs(value - expected) <= 1e-6 * std::abs(expected);
}

bool IsLiteral(const Expr& expr, double expected) {
  return expr.kind == Expr::kLiteral && IsFloat(expr.type) && IsNumber(expr.number, expected);
}

bool IsCall(const Expr& expr, Function function) {
  return expr.kind == Expr::kCall && expr.function == function;
}

// A product: a number times the other factors.
struct Factors {
  double number = 1;
  std::vector<const Expr*> others;
};

class Matcher {
 public:
  Matcher(const Definition& definition, int value) : definition_(definition), value_(value) {
    Walk(definition.body, [&](const Expr& expr) {
      for (const ExprPtr& arg : expr.args) ++uses_[arg.get()];
    });
  }

  absl::optional<std::vector<PostOp>> Match() {
    if (!IsMap(definition_) || !HaveOneType() || !Steps(*definition_.body)) return absl::nullopt;
    return std::move(steps_);
  }

 private:
  bool HaveOneType() const {
    return std::all_of(definition_.operands.begin(), definition_.operands.end(),
                       [&](const TensorType& o) { return o.type == definition_.result.type; });
  }

  bool IsValue(const Expr& expr) const {
    return expr.kind == Expr::kRead && expr.operand == value_;
  }

  bool HasValue(const ExprPtr& expr) const {
    bool has = false;
    Walk(expr, [&](const Expr& term) { has |= IsValue(term); });
    return has;
  }

  // Adds the steps that make the expression of the value.
  bool Steps(const Expr& expr) {
    if (IsValue(expr)) return expr.args.empty() && expr.position == definition_.left;
    if (expr.kind != Expr::kCall) return false;
    for (const PostOp::Kind gelu : {PostOp::kGeluErf, PostOp::kGeluTanh}) {
      const Expr* const argument = ArgumentOfGelu(expr, gelu == PostOp::kGeluErf);
      if (argument != nullptr) return Steps(*argument) && Step(gelu);
    }
    if (expr.args.size() != 2) return false;
    const bool second = HasValue(expr.args[1]);
    if (second == HasValue(expr.args[0])) return false;
    const Expr& of_value = *expr.args[second ? 1 : 0];
    const Expr& other = *expr.args[second ? 0 : 1];
    switch (expr.function) {
      case Function::kAdd: return Steps(of_value) && AddTerms(other);
      case Function::kSub: return !second && Steps(of_value) && Read(PostOp::kSubtract, other);
      case Function::kMul:
        return Steps(of_value) && (Scale(other) || Read(PostOp::kMultiply, other));
      case Function::kMax: return IsLiteral(other, 0) && Steps(of_value) && Step(PostOp::kRelu);
      default: return false;
    }
  }

  bool Step(PostOp::Kind kind) {
    steps_.emplace_back();
    steps_.back().kind = kind;
    return true;
  }

  bool Scale(const Expr& factor) {
    if (factor.kind != Expr::kLiteral) return false;
    Step(PostOp::kScale);
    steps_.back().factor = factor.number;
    return true;
  }

  // Sums are added term by term: libraries add up products in an order of their own too.
  bool AddTerms(const Expr& sum) {
    if (!IsCall(sum, Function::kAdd)) return Read(PostOp::kAdd, sum);
    return AddTerms(*sum.args[0]) && AddTerms(*sum.args[1]);
  }

  bool Read(PostOp::Kind kind, const Expr& read) {
    if (read.kind != Expr::kRead || !read.args.empty()) return false;
    Step(kind);
    steps_.back().operand = read.operand;
    const TensorType& type = definition_.operands[read.operand];
    for (size_t d = 0; d < read.position.size(); ++d) {
      int index = read.position[d].BareIndex();
      if (index < 0 && (type.dims[d] != 1 || !(read.position[d] == Affine()))) return false;
      std::vector<int>& indices = steps_.back().indices;
      if (index >= 0 && std::find(indices.begin(), indices.end(), index) != indices.end())
        return false;
      indices.push_back(index);
    }
    return true;
  }

  // v where the expression is v/2 * (1 + f(v)) with the f of that form of GELU, else null. v is one
  // node, however often it is used.
  const Expr* ArgumentOfGelu(const Expr& expr, bool erf) const {
    const Factors product = FactorsOf(expr);
    if (!IsNumber(product.number, 0.5) || product.others.size() != 2) return nullptr;
    for (const int v : {0, 1}) {
      const Expr* const inner =
          OneMore(*product.others[1 - v], erf ? Function::kErf : Function::kTanh);
      if (inner == nullptr) continue;
      const Expr* const value = product.others[v];
      if (erf ? IsTimes(*inner, std::sqrt(0.5), {value}) : IsCubic(*inner, value)) return value;
    }
    return nullptr;
  }

  // The argument of `function` where the expression is 1 + function(argument), else null.
  static const Expr* OneMore(const Expr& expr, Function function) {
    if (!IsCall(expr, Function::kAdd)) return nullptr;
    for (const int one : {0, 1}) {
      const Expr& call = *expr.args[1 - one];
      if (IsLiteral(*expr.args[one], 1) && IsCall(call, function)) return call.args[0].get();
    }
    return nullptr;
  }

  // Whether it is sqrt(2/pi) * (v + 0.044715*v^3), or sqrt(2/pi) * v * (1 + 0.044715*v^2).
  bool IsCubic(const Expr& expr, const Expr* v) const {
    constexpr double kCubic = 0.044715;
    const Factors product = FactorsOf(expr);
    if (!IsNumber(product.number, std::sqrt(2 / std::acos(-1.0)))) return false;
    std::vector<const Expr*> others = product.others;
    const auto factored = std::find(others.begin(), others.end(), v);
    const bool is_factored = factored != others.end();
    if (is_factored) others.erase(factored);
    if (others.size() != 1 || !IsCall(*others[0], Function::kAdd)) return false;
    for (const int first : {0, 1}) {
      const Expr& lower = *others[0]->args[first];
      const Expr& higher = *others[0]->args[1 - first];
      if (is_factored && IsLiteral(lower, 1) && IsTimes(higher, kCubic, {v, v})) return true;
      if (!is_factored && &lower == v && IsTimes(higher, kCubic, {v, v, v})) return true;
    }
    return false;
  }

  bool IsTimes(const Expr& expr, double number, const std::vector<const Expr*>& others) const {
    const Factors product = FactorsOf(expr);
    return IsNumber(product.number, number) && product.others == others;
  }

  Factors FactorsOf(const Expr& expr) const {
    Factors factors;
    AddFactors(expr, factors);
    return factors;
  }

  // A product that is used several times is a factor as a whole.
  void AddFactors(const ExprPtr& expr, Factors& factors) const {
    const auto uses = uses_.find(expr.get());
    if (uses != uses_.end() && uses->second > 1 && expr->kind != Expr::kLiteral) {
      factors.others.push_back(expr.get());
    } else {
      AddFactors(*expr, factors);
    }
  }

  void AddFactors(const Expr& expr, Factors& factors) const {
    const auto is_literal = [](const Expr& arg) { return arg.kind == Expr::kLiteral; };
    if (is_literal(expr)) {
      factors.number *= expr.number;
    } else if (IsCall(expr, Function::kMul)) {
      for (const ExprPtr& arg : expr.args) AddFactors(arg, factors);
    } else if (IsCall(expr, Function::kDiv) && is_literal(*expr.args[1])) {
      AddFactors(expr.args[0], factors);
      factors.number /= expr.args[1]->number;
    } else if (IsCall(expr, Function::kSq)) {
      for (int i = 0; i < 2; ++i) AddFactors(expr.args[0], factors);
    } else if (IsCall(expr, Function::kPow) && is_literal(*expr.args[1]) &&
               (expr.args[1]->number == 2 || expr.args[1]->number == 3)) {
      for (int i = 0; i < static_cast<int>(expr.args[1]->number); ++i)
        AddFactors(expr.args[0], factors);
    } else {
      factors.others.push_back(&expr);
    }
  }

  const Definition& definition_;
  const int value_;
  std::map<const Expr*, int> uses_;  // by how many terms each is used
  std::vector<PostOp> steps_;
};

}  // namespace

absl::optional<std::vector<PostOp>> MatchPostOps(const Definition& definition, int value) {
  return Matcher(definition, value).Match();
}

}  // namespace yuba
