#include "opsemantics/gradient/slopes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/gradient/gradient.h"
#include "opsemantics/gradient/terms.h"
#include "opsemantics/regions/structure.h"

namespace yuba {
namespace {

ExprPtr CallOf(Function function, ExprPtr a, ExprPtr b) {
  Expr call;
  call.kind = Expr::kCall;
  call.function = function;
  call.args = {std::move(a), std::move(b)};
  return std::make_shared<const Expr>(std::move(call));
}

// The terms of a sum, or the factors of a product, however it is nested: false where there are
// many.
bool AddParts(const Expr& expr, Function function, std::vector<const Expr*>& parts) {
  constexpr size_t kMost = 64;
  if (!IsCallOf(expr, function)) {
    parts.push_back(&expr);
    return parts.size() <= kMost;
  }
  return std::all_of(expr.args.begin(), expr.args.end(),
                     [&](const ExprPtr& arg) { return AddParts(*arg, function, parts); });
}

// Compares terms of two definitions of the same indices, in which sums and products may be nested
// and ordered otherwise.
class Comparison {
 public:
  // operands[k]: the operand of the second definition that operand k of the first one is.
  explicit Comparison(std::vector<int> operands) : operands_(std::move(operands)) {}

  bool AreEqual(const Expr& a, const Expr& b) {
    const auto [known, is_new] = equal_.emplace(std::make_pair(&a, &b), false);
    if (is_new) {
      const bool equal = Compare(a, b);
      equal_[{&a, &b}] = equal;
      return equal;
    }
    return known->second;
  }

 private:
  bool Compare(const Expr& a, const Expr& b) {
    if (a.kind != b.kind || a.args.size() != b.args.size()) return false;
    for (const Function function : {Function::kAdd, Function::kMul}) {
      if (IsCallOf(a, function)) return IsCallOf(b, function) && HaveSameParts(a, b, function);
    }
    if (a.kind == Expr::kRead)
      return operands_[a.operand] == b.operand && a.position == b.position && a.args.empty();
    if (!SameNode(a, b)) return false;
    for (size_t i = 0; i < a.args.size(); ++i)
      if (!AreEqual(*a.args[i], *b.args[i])) return false;
    return true;
  }

  bool HaveSameParts(const Expr& a, const Expr& b, Function function) {
    std::vector<const Expr*> of_a, of_b;
    if (!AddParts(a, function, of_a) || !AddParts(b, function, of_b) || of_a.size() != of_b.size())
      return false;
    for (const Expr* part : of_a) {
      const auto equal = std::find_if(of_b.begin(), of_b.end(),
                                      [&](const Expr* other) { return AreEqual(*part, *other); });
      if (equal == of_b.end()) return false;
      of_b.erase(equal);
    }
    return true;
  }

  const std::vector<int> operands_;
  std::map<std::pair<const Expr*, const Expr*>, bool> equal_;
};

class SlopeMatcher {
 public:
  SlopeMatcher(const Definition& definition, int value)
      : definition_(definition), value_(value), other_(1 - value) {}

  bool Match() const {
    const auto is_like = [&](const TensorType& type) {
      return type.type == definition_.result.type && type.dims == definition_.result.dims;
    };
    if (!IsMap(definition_) || definition_.operands.size() != 2 ||
        !std::all_of(definition_.operands.begin(), definition_.operands.end(), is_like))
      return false;
    bool matches = false;
    Walk(definition_.body, [&](const Expr& term) {
      if (!matches && IsCallOf(term, Function::kTanh)) matches = IsSlopeWith(term);
    });
    return matches;
  }

 private:
  // Whether the body is the value times the slope of an activation in which this term is.
  bool IsSlopeWith(const Expr& term) const {
    const auto tanh = std::make_shared<const Expr>(term);
    Expr read;
    read.kind = Expr::kRead;
    read.operand = other_;
    read.position = definition_.left;
    const auto x = std::make_shared<const Expr>(std::move(read));
    const ElementType type = definition_.result.type;
    const ExprPtr half = Number(0.5, type);
    const ExprPtr more = CallOf(Function::kAdd, tanh, Number(1, type));
    const auto times = [](const ExprPtr& a, const ExprPtr& b) {
      return CallOf(Function::kMul, a, b);
    };
    for (const ExprPtr& activation :
         {times(times(x, half), more), times(x, times(half, more)), times(times(x, more), half)}) {
      if (IsSlopeOf(activation)) return true;
    }
    return false;
  }

  bool IsSlopeOf(const ExprPtr& activation) const {
    Definition definition = definition_;  // with an operand that it does not read
    definition.body = activation;
    ShareTerms(definition);
    const auto steps = MatchPostOps(definition, other_);
    if (!steps.has_value() || steps->size() != 1 || (*steps)[0].kind != PostOp::kGeluTanh)
      return false;
    std::vector<bool> wanted(2);
    wanted[other_] = true;
    const auto gradient = GradientOf(definition, wanted);
    if (!gradient.ok() || gradient->shares.size() != 1) return false;
    const GradientShare& share = gradient->shares[0];
    std::vector<int> operands;
    for (const int source : share.sources) {
      if (source != other_ && source != kGradientOfResult) return false;
      operands.push_back(source == other_ ? other_ : value_);
    }
    return share.definition.left == definition_.left &&
           Comparison(operands).AreEqual(*share.definition.body, *definition_.body);
  }

  static constexpr int kGradientOfResult = 2;  // GradientShare::sources, of two operands

  const Definition& definition_;
  const int value_, other_;
};

}  // namespace

absl::optional<std::vector<PostOp>> MatchPostOpsAndSlopes(const Definition& definition, int value) {
  auto steps = MatchPostOps(definition, value);
  if (steps.has_value() || value > 1 || !SlopeMatcher(definition, value).Match()) return steps;
  PostOp slope;
  slope.kind = PostOp::kGeluTanhSlope;
  slope.operand = 1 - value;
  for (const Affine& dim : definition.left) slope.indices.push_back(dim.BareIndex());
  return std::vector<PostOp>{std::move(slope)};
}

}  // namespace yuba
