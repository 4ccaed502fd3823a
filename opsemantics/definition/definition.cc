#include "opsemantics/definition/definition.h"

#include <algorithm>

#include "opsemantics/base/check.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba {
namespace {

// a + factor * b.
Affine AddScaled(const Affine& a, const Affine& b, int64_t factor) {
  Affine sum;
  sum.constant = a.constant + factor * b.constant;
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].first < b.terms[j].first)) {
      sum.terms.push_back(a.terms[i++]);
      continue;
    }
    std::pair<int, int64_t> term = {b.terms[j].first, factor * b.terms[j].second};
    if (i < a.terms.size() && a.terms[i].first == term.first) term.second += a.terms[i++].second;
    ++j;
    if (term.second != 0) sum.terms.push_back(term);
  }
  return sum;
}

bool SameNumber(double a, double b) {  // by value; a NaN equals a NaN, -0 differs from 0
  if (a != a || b != b) return a != a && b != b;
  return a == b && (a != 0 || 1 / a == 1 / b);
}

bool SameBody(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && SameExpr(a, b);
}

bool SameCondition(const DataCondition& a, const DataCondition& b) {
  return a.index == b.index && a.compare == b.compare && a.reversed == b.reversed &&
         SameBody(a.value, b.value) && SameTable(a.table, b.table);
}

}  // namespace

bool SameTable(const ValueTablePtr& a, const ValueTablePtr& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

int Affine::BareIndex() const {
  return constant == 0 && terms.size() == 1 && terms[0].second == 1 ? terms[0].first : -1;
}

Affine ConstantAffine(int64_t value) {
  Affine affine;
  affine.constant = value;
  return affine;
}

Affine IndexAffine(int index) {
  Affine affine;
  affine.terms.push_back({index, 1});
  return affine;
}

Affine operator+(const Affine& a, const Affine& b) { return AddScaled(a, b, 1); }
Affine operator-(const Affine& a, const Affine& b) { return AddScaled(a, b, -1); }

Affine operator*(const Affine& a, int64_t factor) {
  if (factor == 0) return Affine();
  Affine product = a;
  product.constant *= factor;
  for (auto& term : product.terms) term.second *= factor;
  return product;
}

int64_t Evaluate(const Affine& affine, const std::vector<int64_t>& point) {
  int64_t value = affine.constant;
  for (const auto& term : affine.terms) value += term.second * point[term.first];
  return value;
}

Interval Range(const Affine& affine, const std::vector<Interval>& ranges) {
  int64_t least = affine.constant, greatest = affine.constant;
  for (const auto& term : affine.terms) {
    const Interval& range = ranges[term.first];
    if (range.empty()) return {0, 0};
    const int64_t first = term.second * range.begin, last = term.second * (range.end - 1);
    least += std::min(first, last);
    greatest += std::max(first, last);
  }
  return {least, greatest + 1};
}

bool SameNode(const Expr& a, const Expr& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Expr::kLiteral:
      return a.type == b.type &&
             (IsFloat(a.type) ? SameNumber(a.number, b.number) : a.integer == b.integer);
    case Expr::kIndex: return a.affine == b.affine;
    case Expr::kRead: return a.operand == b.operand && a.position == b.position;
    case Expr::kCall:
      return a.function == b.function && (a.function != Function::kCast || a.type == b.type);
  }
  YUBA_CHECK(false) << "kind of expression " << a.kind;
  return false;
}

namespace {

class IndexNames {
 public:
  bool In(const Expr& expr) {
    if (expr.kind == Expr::kIndex) return true;
    if (expr.kind == Expr::kCall && expr.function == Function::kRandom) return false;
    return std::any_of(expr.args.begin(), expr.args.end(), [this](const ExprPtr& arg) {
      return known_.Of(arg, [&] { return In(*arg); });
    });
  }

 private:
  PerTerm<bool> known_;
};

}  // namespace

bool NamesIndex(const Expr& expr) { return IndexNames().In(expr); }

namespace {

class Types {
 public:
  explicit Types(const std::vector<TensorType>& operands) : operands_(operands) {}

  ElementType Of(const Expr& expr) {
    switch (expr.kind) {
      case Expr::kLiteral: return expr.type;
      case Expr::kIndex: return ElementType::kI64;
      case Expr::kRead: return operands_[expr.operand].type;
      case Expr::kCall: break;
    }
    const Function function = expr.function;
    if (function == Function::kCast || function == Function::kOpaque) return expr.type;
    if (IsComparison(function) || IsLogical(function)) return ElementType::kBool;
    if (function == Function::kRandom) return ElementType::kF32;
    // A float counts before an integer; else the first argument counts.
    const size_t first = expr.function == Function::kSelect ? 1 : 0;
    ElementType type = Of(expr.args[first]);
    for (size_t i = first + 1; i < expr.args.size() && !IsFloat(type); ++i) {
      const ElementType other = Of(expr.args[i]);
      if (IsFloat(other)) type = other;
    }
    return type;
  }

 private:
  ElementType Of(const ExprPtr& expr) {
    return known_.Of(expr, [&] { return Of(*expr); });
  }

  const std::vector<TensorType>& operands_;
  PerTerm<ElementType> known_;
};

}  // namespace

ElementType TypeOf(const Expr& expr, const std::vector<TensorType>& operands) {
  return Types(operands).Of(expr);
}

bool operator==(const Definition& a, const Definition& b) {
  return a.name == b.name && a.indices == b.indices && a.operands == b.operands &&
         a.result == b.result && a.left == b.left && a.reducer == b.reducer && a.where == b.where &&
         a.data_where.size() == b.data_where.size() &&
         std::equal(a.data_where.begin(), a.data_where.end(), b.data_where.begin(),
                    SameCondition) &&
         SameBody(a.body, b.body) && a.opaque == b.opaque && a.nograd == b.nograd &&
         a.partial == b.partial && a.partial_operands == b.partial_operands;
}

bool ReadsPartials(const Definition& definition, size_t operand) {
  return std::count(definition.partial_operands.begin(), definition.partial_operands.end(),
                    static_cast<int>(operand)) > 0;
}

Definition InGroups(const Definition& definition, int groups) {
  YUBA_CHECK(!definition.partial_operands.empty()) << definition.name;
  Definition computed = definition;
  computed.indices.back().extent = groups;
  if (groups > 1) return computed;
  computed.indices.pop_back();
  computed.partial_operands.clear();
  const bool reduces = std::any_of(computed.indices.begin(), computed.indices.end(),
                                   [](const Index& index) { return index.reduction; });
  if (!reduces) computed.reducer = Reducer::kNone;
  return computed;
}

}  // namespace yuba
