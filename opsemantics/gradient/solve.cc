#include "opsemantics/gradient/solve.h"

#include <algorithm>
#include <cstdlib>

#include "absl/types/optional.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/gradient/terms.h"
#include "opsemantics/regions/bounds.h"
#include "opsemantics/regions/boxes.h"

namespace yuba {
namespace {

// The value as an affine function of the indices, where it is one without reads.
absl::optional<Affine> AffineOf(const Expr& term) {
  if (term.kind == Expr::kIndex) return term.affine;
  if (term.kind == Expr::kLiteral && !IsFloat(term.type)) return ConstantAffine(term.integer);
  return absl::nullopt;
}

// The constraints that all hold just where the condition does, or just where it does not; nothing
// where affine constraints cannot say that.
absl::optional<std::vector<Constraint>> ConstraintsOf(const Expr& condition, bool holds) {
  if (IsCallOf(condition, Function::kNot)) return ConstraintsOf(*condition.args[0], !holds);
  const bool both = holds && IsCallOf(condition, Function::kAnd);
  if (both || (!holds && IsCallOf(condition, Function::kOr))) {
    auto first = ConstraintsOf(*condition.args[0], holds);
    const auto second = ConstraintsOf(*condition.args[1], holds);
    if (!first.has_value() || !second.has_value()) return absl::nullopt;
    first->insert(first->end(), second->begin(), second->end());
    return first;
  }
  if (condition.kind != Expr::kCall || !IsComparison(condition.function)) return absl::nullopt;
  const auto a = AffineOf(*condition.args[0]), b = AffineOf(*condition.args[1]);
  if (!a.has_value() || !b.has_value()) return absl::nullopt;
  const Affine difference = *a - *b, one = ConstantAffine(1);
  switch (condition.function) {
    case Function::kLe:
      return {{holds ? Constraint{difference, false} : Constraint{one - difference, false}}};
    case Function::kLt:
      return {{holds ? Constraint{difference + one, false} : Constraint{difference * -1, false}}};
    case Function::kEq:
      if (holds) return {{Constraint{difference, true}}};
      return absl::nullopt;
    case Function::kNe:
      if (!holds) return {{Constraint{difference, true}}};
      return absl::nullopt;
    default: return absl::nullopt;
  }
}

class Solver {
 public:
  Solver(Definition& definition, int factor) : definition_(definition), factor_(factor) {}

  void Solve() {
    while (ChoiceToConstraints()) {
    }
    while (SolveOne()) {
    }
    DropConstraints();
    OrderIndices(definition_);
    const bool sum = std::any_of(definition_.indices.begin(), definition_.indices.end(),
                                 [](const Index& index) { return index.reduction; });
    if (!sum) ToMap();
    GuardReads();
    ShareTerms(definition_);
  }

 private:
  bool ChoiceToConstraints() {
    const Expr& body = *definition_.body;
    if (!IsCallOf(body, Function::kSelect)) return false;
    const bool first = IsNumber(*body.args[2], 0);
    if (!first && !IsNumber(*body.args[1], 0)) return false;
    const auto constraints = ConstraintsOf(*body.args[0], first);
    if (!constraints.has_value()) return false;
    definition_.where.insert(definition_.where.end(), constraints->begin(), constraints->end());
    definition_.body = ExprPtr(body.args[first ? 1 : 2]);
    return true;
  }

  // Takes one reduction index out; false where none can be.
  bool SolveOne() {
    const PointSet points(definition_.where, WholeRanges(definition_));
    for (size_t i = 0; i < definition_.indices.size(); ++i) {
      const Interval values = points.Hull(IndexAffine(static_cast<int>(i)));
      if (!definition_.indices[i].reduction || values.size() != 1) continue;
      Eliminate(static_cast<int>(i), ConstantAffine(values.begin));
      return true;
    }
    for (size_t c = 0; c < definition_.where.size(); ++c) {
      const Constraint constraint = definition_.where[c];
      const int index = Solvable(constraint);
      if (index < 0) continue;
      int64_t coefficient = 0;
      for (const auto& [i, factor] : constraint.expression.terms) {
        if (i == index) coefficient = factor;
      }
      const Affine value =
          (constraint.expression - IndexAffine(index) * coefficient) * -coefficient;
      definition_.where.erase(definition_.where.begin() + static_cast<int64_t>(c));
      const int64_t extent = definition_.indices[index].extent;
      definition_.where.push_back({value * -1, false});
      definition_.where.push_back({value - ConstantAffine(extent - 1), false});
      Eliminate(index, value);
      return true;
    }
    return false;
  }

  // The one reduction index of an equality, if it has the coefficient 1 or -1; else -1.
  int Solvable(const Constraint& constraint) const {
    int index = -1;
    for (const auto& [i, coefficient] : constraint.expression.terms) {
      if (!definition_.indices[i].reduction) continue;
      if (index >= 0 || std::abs(coefficient) != 1) return -1;
      index = i;
    }
    return constraint.equality ? index : -1;
  }

  // Puts `value`, a function of the other indices, in the place of the index.
  void Eliminate(int index, const Affine& value) {
    std::vector<Affine> moved;
    for (int i = 0; i < static_cast<int>(definition_.indices.size()); ++i)
      moved.push_back(IndexAffine(i > index ? i - 1 : i));
    moved[index] = Affine();
    moved[index] = Substitute(value, moved);
    std::vector<int> same;
    for (size_t k = 0; k < definition_.operands.size(); ++k) same.push_back(static_cast<int>(k));
    definition_.indices.erase(definition_.indices.begin() + index);
    for (Affine& left : definition_.left) left = Substitute(left, moved);
    for (Constraint& constraint : definition_.where)
      constraint.expression = Substitute(constraint.expression, moved);
    for (DataCondition& condition : definition_.data_where) {
      condition.index = Substitute(condition.index, moved);
      condition.value = Substitute(condition.value, moved, same);
    }
    definition_.body = Substitute(definition_.body, moved, same);
  }

  // Those that always hold, and those that a guarded read of the factor makes needless.
  void DropConstraints() {
    const std::vector<Interval> ranges = WholeRanges(definition_);
    const bool polynomial = IsPolynomial();
    auto& where = definition_.where;
    const auto needless = [&](const Constraint& constraint) {
      return Holds(constraint, ranges) || (polynomial && KeepsFactorInside(constraint));
    };
    where.erase(std::remove_if(where.begin(), where.end(), needless), where.end());
  }

  bool IsPolynomial() const {
    bool polynomial = true;
    Walk(definition_.body, [&](const Expr& term) {
      if (term.kind != Expr::kCall) return;
      polynomial &= term.function == Function::kMul || term.function == Function::kAdd ||
                    term.function == Function::kSub || term.function == Function::kNeg;
    });
    return polynomial;
  }

  // Whether it is one end of a dimension of the factor at a position at which the body reads it.
  bool KeepsFactorInside(const Constraint& constraint) const {
    if (constraint.equality) return false;
    const std::vector<int64_t>& dims = definition_.operands[factor_].dims;
    bool keeps = false;
    Walk(definition_.body, [&](const Expr& term) {
      if (term.kind != Expr::kRead || term.operand != factor_) return;
      for (size_t d = 0; d < dims.size(); ++d) {
        const Affine& position = term.position[d];
        keeps |= constraint.expression == position * -1 ||
                 constraint.expression == position - ConstantAffine(dims[d] - 1);
      }
    });
    return keeps;
  }

  // In a map no constraint keeps reads inside: those of a branch that is not taken count too.
  void GuardReads() {
    const PointSet points(definition_.where, WholeRanges(definition_));
    RewriteReads(definition_, [&](const Expr& read) -> ExprPtr {
      if (!read.args.empty()) return nullptr;
      const std::vector<int64_t>& dims = definition_.operands[read.operand].dims;
      bool inside = true;
      for (size_t d = 0; d < dims.size(); ++d)
        inside &= Interval{0, dims[d]}.Contains(points.Hull(read.position[d]));
      if (inside) return nullptr;
      return ReadExpr(read.operand, read.position, read.type, Number(0, read.type));
    });
  }

  void ToMap() {
    ExprPtr condition;
    for (const Constraint& constraint : definition_.where)
      condition = Both(condition, ConditionOf(constraint));
    for (const DataCondition& data : definition_.data_where) {
      ExprPtr index = IndexExpr(data.index);
      condition = Both(condition, CallExpr(data.compare,
                                           data.reversed ? std::vector<ExprPtr>{data.value, index}
                                                         : std::vector<ExprPtr>{index, data.value},
                                           ElementType::kBool));
    }
    definition_.body = Chosen(condition, definition_.body, Number(0, definition_.result.type));
    definition_.where.clear();
    definition_.data_where.clear();
    definition_.reducer = Reducer::kNone;
  }

  Definition& definition_;
  int factor_;
};

}  // namespace

void SolveSum(Definition& definition, int factor) {
  YUBA_CHECK(definition.reducer == Reducer::kSum) << definition.name;
  Solver(definition, factor).Solve();
}

}  // namespace yuba
