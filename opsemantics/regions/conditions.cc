#include "opsemantics/regions/conditions.h"

#include <algorithm>

namespace yuba {
namespace {

// Beyond this many conjunctions a condition is widened to more points: sound, and no real body
// comes near.
constexpr size_t kMaxConjunctions = 64;

Condition Everywhere() { return {{}}; }

Condition Either(Condition a, const Condition& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a.size() > kMaxConjunctions ? Everywhere() : a;
}

Constraint AtMostZero(Affine expression) { return {std::move(expression), false}; }

// a <= b
Constraint AtMost(const Affine& a, const Affine& b) { return AtMostZero(a - b); }
// a < b
Constraint Below(const Affine& a, const Affine& b) { return AtMostZero(a - b + ConstantAffine(1)); }

Condition PointsWhereCompared(Function function, const Affine& a, const Affine& b, bool value) {
  switch (function) {
    case Function::kLt: return {{value ? Below(a, b) : AtMost(b, a)}};
    case Function::kLe: return {{value ? AtMost(a, b) : Below(b, a)}};
    default: break;
  }
  if ((function == Function::kEq) == value) return {{Constraint{a - b, true}}};
  return {{Below(a, b)}, {Below(b, a)}};
}

bool Compared(Function function, int64_t a, int64_t b) {
  switch (function) {
    case Function::kLt: return a < b;
    case Function::kLe: return a <= b;
    case Function::kEq: return a == b;
    default: return a != b;
  }
}

Truth Not(Truth truth) {
  if (truth == Truth::kOpen) return truth;
  return truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
}

Truth And(Truth a, Truth b) {
  if (a == Truth::kFalse || b == Truth::kFalse) return Truth::kFalse;
  return a == Truth::kOpen || b == Truth::kOpen ? Truth::kOpen : Truth::kTrue;
}

class SiteCollector {
 public:
  explicit SiteCollector(const Definition& definition) : definition_(definition) {}

  void Visit(const ExprPtr& expr, const Condition& when) {
    if (expr->kind == Expr::kRead) {
      VisitRead(expr, when);
    } else if (expr->kind == Expr::kCall && expr->function == Function::kSelect) {
      Visit(expr->args[0], when);
      Visit(expr->args[1], Both(when, PointsWhere(*expr->args[0], true)));
      Visit(expr->args[2], Both(when, PointsWhere(*expr->args[0], false)));
    } else {
      for (const ExprPtr& arg : expr->args) Visit(arg, when);
    }
  }

  std::vector<ReadSite> sites;

 private:
  void VisitRead(const ExprPtr& read, const Condition& when) {
    if (read->args.empty()) {
      Add(*read, when);
      return;
    }
    const TensorType& operand = definition_.operands[read->operand];
    Add(*read, Both(when, PointsInside(*read, operand)));
    Visit(read->args[0], Both(when, PointsOutside(*read, operand)));
  }

  void Add(const Expr& read, Condition when) {
    if (when.empty()) return;
    for (const ReadSite& site : sites) {
      if (site.read->operand == read.operand && site.read->position == read.position &&
          site.when == when) {
        return;
      }
    }
    sites.push_back({&read, std::move(when)});
  }

  const Definition& definition_;
};

}  // namespace

absl::optional<Affine> AffineOf(const Expr& expr) {
  if (expr.kind == Expr::kIndex) return expr.affine;
  if (expr.kind == Expr::kLiteral && !IsFloat(expr.type)) return ConstantAffine(expr.integer);
  if (expr.kind != Expr::kCall || expr.args.empty() || expr.args.size() > 2) return absl::nullopt;
  const absl::optional<Affine> a = AffineOf(*expr.args[0]);
  if (!a.has_value()) return absl::nullopt;
  if (expr.function == Function::kNeg) return *a * -1;
  if (expr.args.size() < 2) return absl::nullopt;
  const absl::optional<Affine> b = AffineOf(*expr.args[1]);
  if (!b.has_value()) return absl::nullopt;
  switch (expr.function) {
    case Function::kAdd: return *a + *b;
    case Function::kSub: return *a - *b;
    case Function::kMul:
      if (b->IsConstant()) return *a * b->constant;
      if (a->IsConstant()) return *b * a->constant;
      return absl::nullopt;
    default: return absl::nullopt;
  }
}

Condition Both(const Condition& a, const Condition& b) {
  if (b == Everywhere() || a.size() * b.size() > kMaxConjunctions) return a;
  Condition both;
  for (const Conjunction& x : a) {
    for (const Conjunction& y : b) {
      Conjunction conjunction = x;
      for (const Constraint& constraint : y) {
        if (std::find(x.begin(), x.end(), constraint) == x.end()) conjunction.push_back(constraint);
      }
      both.push_back(std::move(conjunction));
    }
  }
  return both;
}

Condition PointsWhere(const Expr& expr, bool value) {
  if (expr.kind == Expr::kLiteral && !IsFloat(expr.type)) {
    return (expr.integer != 0) == value ? Everywhere() : Condition{};
  }
  if (expr.kind != Expr::kCall) return Everywhere();
  if (expr.function == Function::kNot) return PointsWhere(*expr.args[0], !value);
  if (expr.function == Function::kAnd || expr.function == Function::kOr) {
    const Condition a = PointsWhere(*expr.args[0], value), b = PointsWhere(*expr.args[1], value);
    return (expr.function == Function::kAnd) == value ? Both(a, b) : Either(a, b);
  }
  if (!IsComparison(expr.function)) return Everywhere();
  const absl::optional<Affine> a = AffineOf(*expr.args[0]), b = AffineOf(*expr.args[1]);
  if (!a.has_value() || !b.has_value()) return Everywhere();
  return PointsWhereCompared(expr.function, *a, *b, value);
}

Condition PointsInside(const Expr& read, const TensorType& operand) {
  Conjunction inside;
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    inside.push_back(AtMost(ConstantAffine(0), read.position[d]));
    inside.push_back(Below(read.position[d], ConstantAffine(operand.dims[d])));
  }
  return {inside};
}

Condition PointsOutside(const Expr& read, const TensorType& operand) {
  Condition outside;
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    outside.push_back({Below(read.position[d], ConstantAffine(0))});
    outside.push_back({AtMost(ConstantAffine(operand.dims[d]), read.position[d])});
  }
  return outside;
}

Truth TruthAt(const Expr& expr, const std::vector<int64_t>& point) {
  if (expr.kind == Expr::kLiteral && !IsFloat(expr.type)) {
    return expr.integer != 0 ? Truth::kTrue : Truth::kFalse;
  }
  if (expr.kind != Expr::kCall) return Truth::kOpen;
  switch (expr.function) {
    case Function::kNot: return Not(TruthAt(*expr.args[0], point));
    case Function::kAnd: return And(TruthAt(*expr.args[0], point), TruthAt(*expr.args[1], point));
    case Function::kOr:
      return Not(And(Not(TruthAt(*expr.args[0], point)), Not(TruthAt(*expr.args[1], point))));
    default: break;
  }
  if (!IsComparison(expr.function)) return Truth::kOpen;
  const absl::optional<Affine> a = AffineOf(*expr.args[0]), b = AffineOf(*expr.args[1]);
  if (!a.has_value() || !b.has_value()) return Truth::kOpen;
  return Compared(expr.function, Evaluate(*a, point), Evaluate(*b, point)) ? Truth::kTrue
                                                                           : Truth::kFalse;
}

std::vector<ReadSite> ReadSites(const Definition& definition) {
  SiteCollector collector(definition);
  collector.Visit(definition.body, Everywhere());
  for (const DataCondition& condition : definition.data_where) {
    collector.Visit(condition.value, Everywhere());
  }
  return std::move(collector.sites);
}

}  // namespace yuba
