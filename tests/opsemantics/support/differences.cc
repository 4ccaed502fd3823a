#include "tests/opsemantics/support/differences.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <set>

#include "opsemantics/definition/make_expr.h"

namespace yuba {
namespace {

ExprPtr InDouble(const ExprPtr& term) {
  auto copy = std::make_shared<Expr>(*term);
  copy->type = yuba::InDouble(copy->type);
  for (ExprPtr& arg : copy->args) arg = InDouble(arg);
  return copy;
}

// A number that is added against divisions by 0, too small for its sign to be seen.
bool IsTiny(const ExprPtr& term) {
  return term->kind == Expr::kLiteral && std::abs(term->number) < 1e-4;
}

// The terms of a body that a sign can be wrong in, each once.
void CollectSigned(const ExprPtr& term, std::set<const Expr*>& seen) {
  const bool has_sign = term->kind == Expr::kCall && IsFloat(term->type) &&
                        (term->function == Function::kAdd || term->function == Function::kSub ||
                         term->function == Function::kNeg) &&
                        std::none_of(term->args.begin(), term->args.end(), IsTiny);
  if (has_sign && !seen.insert(term.get()).second) return;
  for (const ExprPtr& arg : term->args) CollectSigned(arg, seen);
}

// The body with plus for minus, or back, or without the sign, in one of its terms.
ExprPtr WithOtherSign(const ExprPtr& body, const Expr* at) {
  if (body.get() == at && body->function == Function::kNeg) return body->args[0];
  auto copy = std::make_shared<Expr>(*body);
  if (body.get() == at)
    copy->function = body->function == Function::kAdd ? Function::kSub : Function::kAdd;
  for (ExprPtr& arg : copy->args) arg = WithOtherSign(arg, at);
  return copy;
}

}  // namespace

ElementType InDouble(ElementType type) { return IsFloat(type) ? ElementType::kF64 : type; }

Definition InDouble(Definition definition) {
  for (TensorType& operand : definition.operands) operand.type = InDouble(operand.type);
  definition.result.type = InDouble(definition.result.type);
  definition.body = InDouble(definition.body);
  return definition;
}

void MakeSigned(Signs signs, std::vector<TensorValue>& operands) {
  size_t count = 0;
  for (TensorValue& operand : operands) {
    if (!IsFloat(operand.type.type)) continue;
    for (Scalar& element : operand.elements) {
      element.number += 0.1;
      if (signs == Signs::kMixed && ++count % 3 != 0) element.number = -element.number;
    }
  }
}

double WeightedSum(const TensorValue& value, const TensorValue& weights) {
  double sum = 0;
  for (size_t e = 0; e < value.elements.size(); ++e)
    sum += value.elements[e].number * weights.elements[e].number;
  return sum;
}

Differences CentralDifferences(std::vector<TensorValue>& operands,
                               const std::function<double()>& value_of) {
  constexpr double kStep = 1e-5;
  Differences found;
  const double value = value_of();
  for (TensorValue& operand : operands) {
    std::vector<Scalar>& elements = operand.elements;
    found.values.emplace_back(elements.size());
    if (!IsFloat(operand.type.type)) continue;
    const size_t stride = elements.size() / 25 + 1;
    for (size_t e = 0; e < elements.size(); e += stride) {
      const double kept = elements[e].number;
      elements[e].number = kept + kStep;
      const double right = (value_of() - value) / kStep;
      elements[e].number = kept - kStep;
      const double left = (value - value_of()) / kStep;
      elements[e].number = kept;
      const double difference = (left + right) / 2;
      ++found.elements;
      if (std::abs(right - left) <= 1e-2 * (1 + std::abs(difference)))
        found.values.back()[e] = difference;
      else
        ++found.corners;
    }
  }
  return found;
}

bool AreEqual(const std::vector<std::vector<double>>& gradients, const Differences& differences,
              double tolerance, int& strange) {
  for (size_t k = 0; k < gradients.size(); ++k) {
    for (size_t e = 0; e < gradients[k].size(); ++e) {
      const absl::optional<double>& difference = differences.values[k][e];
      if (!difference.has_value()) continue;
      if (std::isnan(gradients[k][e])) {
        ++strange;
        continue;
      }
      const double scale = 1 + std::abs(*difference);
      if (gradients[k][e] == Approx(*difference).margin(tolerance * scale).epsilon(tolerance))
        continue;
      UNSCOPED_INFO("operand " << k << ", element " << e << ": " << gradients[k][e] << ", and by "
                               << "differences " << *difference);
      return false;
    }
  }
  return true;
}

std::vector<Definition> WithSignErrors(const Definition& definition) {
  std::set<const Expr*> terms;
  CollectSigned(definition.body, terms);
  std::vector<Definition> faulty;
  for (const Expr* term : terms) {
    faulty.push_back(definition);
    faulty.back().body = WithOtherSign(definition.body, term);
  }
  faulty.push_back(definition);
  faulty.back().body = CallExpr(Function::kNeg, {definition.body}, definition.body->type);
  return faulty;
}

bool Depends(const std::vector<Differences>& differences, int operand) {
  for (const Differences& found : differences) {
    for (const absl::optional<double>& value : found.values[operand]) {
      if (value.has_value() && std::abs(*value) > 1e-6) return true;
    }
  }
  return false;
}

}  // namespace yuba
