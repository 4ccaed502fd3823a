#include "opsemantics/sharding/operations.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/types/optional.h"
#include "opsemantics/definition/functions.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba {
namespace {

bool IsOperation(const Expr& expr) {
  if (expr.kind != Expr::kCall) return false;
  const TypeRule rule = FactsOf(expr.function).rule;
  return rule == TypeRule::kNumber || rule == TypeRule::kFloat ||
         expr.function == Function::kRandom;
}

// The extra that a function is; -1: none.
int ExtraOf(Function function) {
  switch (CostOf(function)) {
    case FunctionCost::kQuick: return -1;
    case FunctionCost::kRoot: return static_cast<int>(Extra::kRoot);
    case FunctionCost::kFunction: return static_cast<int>(Extra::kFunction);
    case FunctionCost::kPower: return static_cast<int>(Extra::kPower);
  }
  return -1;
}

// The number that a term always is; nullopt: it is none.
absl::optional<double> NumberOf(const Expr& expr) {
  if (expr.kind == Expr::kLiteral && IsFloat(expr.type)) return expr.number;
  if (expr.kind != Expr::kCall || expr.function != Function::kAdd) return absl::nullopt;
  const absl::optional<double> a = NumberOf(*expr.args[0]), b = NumberOf(*expr.args[1]);
  if (!a.has_value() || !b.has_value()) return absl::nullopt;
  return *a + *b;
}

// Squares are products, also those that a gradient has made, as pow(x, 3 - 1).
bool IsSquare(const Expr& expr) {
  return expr.function == Function::kPow && NumberOf(*expr.args[1]) == 2;
}

// The share of the points at which a condition holds, where it says which point of an index it is;
// else 1.
double ShareOf(const Definition& definition, const Expr& condition) {
  if (condition.kind != Expr::kCall || condition.function != Function::kEq) return 1;
  for (const ExprPtr& arg : condition.args) {
    if (arg->kind != Expr::kIndex || arg->affine.terms.size() != 1) continue;
    const int64_t extent = definition.indices[arg->affine.terms.begin()->first].extent;
    return 1.0 / static_cast<double>(std::max<int64_t>(1, extent));
  }
  return 1;
}

// How often a term is computed.
struct Computed {
  double share = 0;     // of the points
  bool always = false;  // whether it is at all, without looking at a condition
};
using ComputedTerms = absl::flat_hash_map<const Expr*, Computed>;

ComputedTerms HowOften(const Definition& definition, const ExprPtr& body) {
  ComputedTerms computed;
  computed[body.get()] = {1, true};
  for (const Occurrence& term : Occurrences(body)) {  // those that use it come before it
    Computed& own = computed[term.node];
    own.share = std::min(1.0, own.share);
    const Computed at = own;
    const bool selects = term.node->kind == Expr::kCall && term.node->function == Function::kSelect;
    for (size_t a = 0; a < term.node->args.size(); ++a) {
      const double part = selects && a == 1 ? ShareOf(definition, *term.node->args[0]) : 1;
      Computed& arg = computed[term.node->args[a].get()];
      arg.share += at.share * part;
      arg.always |= at.always && !(selects && a > 0);
    }
  }
  return computed;
}

// Of one element alone: a root takes as long then as a function that a loop computes for several,
// and a function as long as a power.
int OfOneElement(int extra) { return std::min(extra + 1, static_cast<int>(Extra::kPower)); }

}  // namespace

bool TakesOneTerm(Reducer reducer) {
  return reducer == Reducer::kNone || reducer == Reducer::kPick;
}

bool DependsOn(const ExprPtr& value, int index) {
  bool depends = false;
  const auto look = [&](const Affine& affine) {
    for (const auto& term : affine.terms) depends |= term.first == index;
  };
  Walk(value, [&](const Expr& expr) {
    if (expr.kind == Expr::kIndex) look(expr.affine);
    for (const Affine& position : expr.position) look(position);
  });
  return depends;
}

void CountOperations(const Definition& definition, PointWork& work) {
  work.operations = TakesOneTerm(definition.reducer) ? 0 : 1;
  // What is the same along a run is computed once, before it, as powers of the number of steps.
  const auto varies = [&](const Expr& expr) {
    return work.row < 0 || std::any_of(
                               expr.args.begin(), expr.args.end(),
                               [&](const ExprPtr& arg) { return DependsOn(arg, work.row); });
  };
  const double run = work.row < 0 ? 1 : static_cast<double>(definition.indices[work.row].extent);
  const ExprPtr body = SharedTerms().Of(definition.body);
  ComputedTerms computed = HowOften(definition, body);
  Walk(body, [&](const Expr& expr) {
    if (!IsOperation(expr)) return;
    ++work.operations;
    const int extra = ExtraOf(expr.function);
    if (extra < 0 || IsSquare(expr)) return;
    const Computed& how = computed[&expr];
    if (!varies(expr)) {
      work.extras[OfOneElement(extra)] += how.share / run;
      return;
    }
    // Loops compute roots, which are instructions, also where a condition drops some of them.
    const bool alone =
        run < kPointsAtATime || (!how.always && extra != static_cast<int>(Extra::kRoot));
    work.extras[alone ? OfOneElement(extra) : extra] += how.share;
  });
}

}  // namespace yuba
