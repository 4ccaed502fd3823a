#include "opsemantics/elaborate/one_term.h"

#include <algorithm>
#include <map>
#include <vector>

namespace yuba {
namespace {

bool Names(const Affine& position, int variable) {
  return std::any_of(position.terms.begin(), position.terms.end(),
                     [&](const auto& term) { return term.first == variable; });
}

// Whether the value is read at a position that depends on one of the variables.
bool ReadsAlong(const ExprPtr& value, const std::vector<int>& variables) {
  bool along = false;
  Walk(value, [&](const Expr& expr) {
    if (expr.kind != Expr::kRead) return;
    for (const Affine& position : expr.position) {
      for (const int variable : variables) along |= Names(position, variable);
    }
  });
  return along;
}

// The variables of the reduction that its conditions do not fix.
std::vector<int> NotFixed(const Reduction& reduction) {
  std::map<int, int> sides;  // [variable]: on how many sides conditions on indices bound it
  for (const Constraint& constraint : reduction.where) {
    for (const auto& term : constraint.expression.terms)
      sides[term.first] += constraint.equality ? 2 : 1;
  }
  std::vector<int> left = reduction.variables;
  const auto is_fixed = [&](int variable) {
    return sides[variable] >= 2 ||
           std::any_of(reduction.data_where.begin(), reduction.data_where.end(),
                       [&](const DataCondition& condition) {
                         return condition.compare == Function::kEq &&
                                Names(condition.index, variable) &&
                                !ReadsAlong(condition.value, left);
                       });
  };
  while (true) {
    const auto fixed = std::find_if(left.begin(), left.end(), is_fixed);
    if (fixed == left.end()) return left;
    left.erase(fixed);
  }
}

}  // namespace

bool MayTakeSeveral(const Reduction& reduction, const InstanceBuilder& builder) {
  const auto extent = [&](int variable) { return builder.variable(variable).extent; };
  const std::vector<int>& all = reduction.variables;
  if (std::any_of(all.begin(), all.end(), [&](int v) { return extent(v) == 0; })) return false;
  const std::vector<int> left = NotFixed(reduction);
  return std::any_of(left.begin(), left.end(), [&](int v) { return extent(v) > 1; });
}

}  // namespace yuba
