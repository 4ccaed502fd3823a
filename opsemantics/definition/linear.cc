#include "opsemantics/definition/linear.h"

#include <algorithm>

#include "opsemantics/definition/shared_terms.h"

namespace yuba {
namespace {

// How an expression depends on the operands in question.
enum class Degree {
  kZero,  // the number 0, which is of any degree
  kNone,  // not at all
  kOne,   // linearly
  kOther
};

class Degrees {
 public:
  explicit Degrees(const std::vector<int>& operands) : operands_(operands) {}

  Degree Of(const ExprPtr& expr) {
    return degrees_.Of(expr, [&] { return OfNew(*expr); });
  }

  bool Independent(const ExprPtr& expr) {
    return independent_.Of(expr, [&] {
      return !(expr->kind == Expr::kRead && Is(expr->operand)) && AllIndependent(*expr);
    });
  }

 private:
  Degree OfNew(const Expr& expr) {
    switch (expr.kind) {
      case Expr::kLiteral:
        return (IsFloat(expr.type) ? expr.number == 0 : expr.integer == 0) ? Degree::kZero
                                                                           : Degree::kNone;
      case Expr::kIndex: return Degree::kNone;
      case Expr::kRead: return OfRead(expr);
      case Expr::kCall: return OfCall(expr);
    }
    return Degree::kOther;
  }

  bool AllIndependent(const Expr& expr) {
    return std::all_of(expr.args.begin(), expr.args.end(),
                       [&](const ExprPtr& arg) { return Independent(arg); });
  }

  bool Is(int operand) const { return std::count(operands_.begin(), operands_.end(), operand) > 0; }

  // The degree where one of two values is taken, or where the two are added.
  static Degree Either(Degree a, Degree b) {
    if (a == Degree::kZero) return b;
    return b == Degree::kZero || a == b ? a : Degree::kOther;
  }

  Degree OfRead(const Expr& expr) {
    const Degree inside = Is(expr.operand) ? Degree::kOne : Degree::kNone;
    return expr.args.empty() ? inside : Either(inside, Of(expr.args[0]));
  }

  Degree OfCall(const Expr& expr) {
    if (AllIndependent(expr)) return Degree::kNone;
    switch (expr.function) {
      case Function::kNeg: return Of(expr.args[0]);
      case Function::kAdd:
      case Function::kSub: return Either(Of(expr.args[0]), Of(expr.args[1]));
      case Function::kMul: return Product(expr.args[0], expr.args[1]);
      case Function::kDiv: {  // integers are rounded
        const bool linear = IsFloat(expr.type) && Independent(expr.args[1]);
        return linear ? Of(expr.args[0]) : Degree::kOther;
      }
      case Function::kSelect:
        return Independent(expr.args[0]) ? Either(Of(expr.args[1]), Of(expr.args[2]))
                                         : Degree::kOther;
      default: return Degree::kOther;
    }
  }

  Degree Product(const ExprPtr& a, const ExprPtr& b) {
    const Degree left = Of(a), right = Of(b);
    if (left == Degree::kZero || right == Degree::kZero) return Degree::kZero;
    if (left == Degree::kNone) return right;
    return right == Degree::kNone ? left : Degree::kOther;
  }

  const std::vector<int>& operands_;
  PerTerm<Degree> degrees_;
  PerTerm<bool> independent_;
};

bool Mentions(const Affine& affine, int index) {
  return std::any_of(affine.terms.begin(), affine.terms.end(),
                     [&](const auto& term) { return term.first == index; });
}

bool Mentions(const std::vector<Affine>& position, int index) {
  return std::any_of(position.begin(), position.end(),
                     [&](const Affine& affine) { return Mentions(affine, index); });
}

bool Mentions(const ExprPtr& expr, int index) {
  bool found = false;
  Walk(expr, [&](const Expr& part) {
    found |= Mentions(part.affine, index) || Mentions(part.position, index);
  });
  return found;
}

bool Mentions(const Definition& definition, int index) {
  const auto& where = definition.where;
  const auto& data_where = definition.data_where;
  return Mentions(definition.left, index) || Mentions(definition.body, index) ||
         std::any_of(where.begin(), where.end(),
                     [&](const Constraint& c) { return Mentions(c.expression, index); }) ||
         std::any_of(data_where.begin(), data_where.end(), [&](const DataCondition& c) {
           return Mentions(c.index, index) || Mentions(c.value, index);
         });
}

}  // namespace

bool IsLinearIn(const Definition& definition, const std::vector<int>& operands) {
  if (definition.reducer != Reducer::kNone && definition.reducer != Reducer::kSum) return false;
  Degrees degrees(operands);
  const bool conditions =
      std::all_of(definition.data_where.begin(), definition.data_where.end(),
                  [&](const DataCondition& where) { return degrees.Independent(where.value); });
  return conditions && degrees.Of(definition.body) == Degree::kOne;
}

bool NumbersGroups(const Definition& definition) {
  if (definition.indices.empty()) return false;
  const Index& last = definition.indices.back();
  return last.reduction && last.extent == kMostGroups &&
         !Mentions(definition, static_cast<int>(definition.indices.size()) - 1);
}

}  // namespace yuba
