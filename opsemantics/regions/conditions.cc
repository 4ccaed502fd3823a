#include "opsemantics/regions/conditions.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/regions/value_tables.h"

namespace yuba {
namespace {

// Beyond this many conjunctions a condition is widened to more points: sound, and no real body
// comes near.
constexpr size_t kMaxConjunctions = 64;

Condition Everywhere() { return {{}}; }

Condition Either(Condition a, const Condition& b) {
  for (const Conjunction& conjunction : b) {
    if (std::find(a.begin(), a.end(), conjunction) == a.end()) a.push_back(conjunction);
  }
  return a.size() > kMaxConjunctions ? Everywhere() : a;
}

// The constraints that are in every conjunction of `a` and of `b`: where one of them holds, these
// do.
Condition InAll(const Condition& a, const Condition& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Conjunction common = a[0];
  const auto keep = [&common](const Conjunction& other) {
    common.erase(std::remove_if(common.begin(), common.end(),
                                [&](const Constraint& constraint) {
                                  return std::find(other.begin(), other.end(), constraint) ==
                                         other.end();
                                }),
                 common.end());
  };
  for (const Conjunction& conjunction : a) keep(conjunction);
  for (const Conjunction& conjunction : b) keep(conjunction);
  return {common};
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

// Whether the numbers are so small that sums and products of a few such functions do not overflow.
bool IsSmall(const Affine& affine) {
  constexpr int64_t kLargest = int64_t{1} << 60;
  const auto small = [](int64_t value) { return value <= kLargest && value >= -kLargest; };
  return small(affine.constant) &&
         std::all_of(affine.terms.begin(), affine.terms.end(),
                     [&](const auto& term) { return small(term.second); });
}

// affine * factor, where that is small.
absl::optional<Affine> Scaled(const Affine& affine, int64_t factor) {
  int64_t product = 0;
  bool overflow = __builtin_mul_overflow(affine.constant, factor, &product);
  for (const auto& term : affine.terms)
    overflow |= __builtin_mul_overflow(term.second, factor, &product);
  if (overflow) return absl::nullopt;
  return affine * factor;
}

// Expressions as affine functions, each node looked at once.
class Affines {
 public:
  absl::optional<Affine> Of(const Expr& expr) {
    const absl::optional<Affine> affine = OfNew(expr);
    return affine.has_value() && IsSmall(*affine) ? affine : absl::nullopt;
  }

 private:
  absl::optional<Affine> Of(const ExprPtr& expr) {
    return known_.Of(expr, [&] { return Of(*expr); });
  }

  absl::optional<Affine> OfNew(const Expr& expr) {
    if (expr.kind == Expr::kIndex) return expr.affine;
    if (expr.kind == Expr::kLiteral && !IsFloat(expr.type)) return ConstantAffine(expr.integer);
    if (expr.kind != Expr::kCall || expr.args.empty() || expr.args.size() > 2) return absl::nullopt;
    const absl::optional<Affine> a = Of(expr.args[0]);
    if (!a.has_value()) return absl::nullopt;
    if (expr.function == Function::kNeg) return *a * -1;
    if (expr.args.size() < 2) return absl::nullopt;
    const absl::optional<Affine> b = Of(expr.args[1]);
    if (!b.has_value()) return absl::nullopt;
    switch (expr.function) {
      case Function::kAdd: return *a + *b;
      case Function::kSub: return *a - *b;
      case Function::kMul:
        if (b->IsConstant()) return Scaled(*a, b->constant);
        if (a->IsConstant()) return Scaled(*b, a->constant);
        return absl::nullopt;
      default: return absl::nullopt;
    }
  }

  PerTerm<absl::optional<Affine>> known_;
};

// PointsWhere of expressions, each node looked at once for each truth.
class Points {
 public:
  Condition Where(const Expr& expr, bool value) {
    if (expr.kind == Expr::kLiteral && !IsFloat(expr.type)) {
      return (expr.integer != 0) == value ? Everywhere() : Condition{};
    }
    if (expr.kind != Expr::kCall) return Everywhere();
    if (expr.function == Function::kNot) return Where(expr.args[0], !value);
    if (expr.function == Function::kAnd || expr.function == Function::kOr) {
      const Condition a = Where(expr.args[0], value), b = Where(expr.args[1], value);
      return (expr.function == Function::kAnd) == value ? Both(a, b) : Either(a, b);
    }
    if (!IsComparison(expr.function)) return Everywhere();
    const absl::optional<Affine> a = AffineOf(*expr.args[0]), b = AffineOf(*expr.args[1]);
    if (!a.has_value() || !b.has_value()) return Everywhere();
    return PointsWhereCompared(expr.function, *a, *b, value);
  }

 private:
  Condition Where(const ExprPtr& expr, bool value) {
    return known_[value ? 1 : 0].Of(expr, [&] { return Where(*expr, value); });
  }

  PerTerm<Condition> known_[2];
};

// TruthAt of expressions at one point, each node looked at once.
class Truths {
 public:
  explicit Truths(const std::vector<int64_t>& point) : point_(point) {}

  Truth Of(const Expr& expr) {
    if (expr.kind == Expr::kLiteral && !IsFloat(expr.type)) {
      return expr.integer != 0 ? Truth::kTrue : Truth::kFalse;
    }
    if (expr.kind != Expr::kCall) return Truth::kOpen;
    switch (expr.function) {
      case Function::kNot: return Not(Of(expr.args[0]));
      case Function::kAnd: return And(Of(expr.args[0]), Of(expr.args[1]));
      case Function::kOr: return Not(And(Not(Of(expr.args[0])), Not(Of(expr.args[1]))));
      default: break;
    }
    if (!IsComparison(expr.function)) return Truth::kOpen;
    const absl::optional<Affine> a = AffineOf(*expr.args[0]), b = AffineOf(*expr.args[1]);
    if (!a.has_value() || !b.has_value()) return Truth::kOpen;
    return Compared(expr.function, Evaluate(*a, point_), Evaluate(*b, point_)) ? Truth::kTrue
                                                                               : Truth::kFalse;
  }

 private:
  Truth Of(const ExprPtr& expr) {
    return known_.Of(expr, [&] { return Of(*expr); });
  }

  const std::vector<int64_t>& point_;
  PerTerm<Truth> known_;
};

class SiteCollector {
 public:
  explicit SiteCollector(const Definition& definition) : definition_(definition) {}

  void Visit(const ExprPtr& expr, Condition when) {
    if (!Reads(expr) || !IsNew(expr, &when)) return;
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
  // Whether anything in `expr` reads a tensor.
  bool Reads(const ExprPtr& expr) {
    return reads_.Of(expr, [&] {
      return expr->kind == Expr::kRead ||
             std::any_of(expr->args.begin(), expr->args.end(),
                         [&](const ExprPtr& arg) { return Reads(arg); });
    });
  }

  // Whether the node has not been visited under this condition. After many conditions for one node,
  // further ones are widened to what they all have in common, which is soon known.
  bool IsNew(const ExprPtr& expr, Condition* when) {
    if (expr.use_count() == 1) return true;  // its one parent is visited once for each condition
    std::vector<Condition>& seen = seen_[expr.get()];
    if (std::find(seen.begin(), seen.end(), *when) != seen.end()) return false;
    if (seen.size() >= kMaxConjunctions) {
      for (const Condition& other : seen) *when = InAll(*when, other);
      if (std::find(seen.begin(), seen.end(), *when) != seen.end()) return false;
    }
    seen.push_back(*when);
    return true;
  }

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
  PerTerm<bool> reads_;
  absl::flat_hash_map<const Expr*, std::vector<Condition>> seen_;
};

}  // namespace

absl::optional<Affine> AffineOf(const Expr& expr) { return Affines().Of(expr); }

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

Condition PointsWhere(const Expr& expr, bool value) { return Points().Where(expr, value); }

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
  return Truths(point).Of(expr);
}

std::vector<ReadSite> ReadSites(const Definition& definition) {
  SiteCollector collector(definition);
  collector.Visit(definition.body, {KnownConditions(definition)});
  for (const DataCondition& condition : definition.data_where) {
    collector.Visit(condition.value, Everywhere());
  }
  return std::move(collector.sites);
}

}  // namespace yuba
