// Gradients of every definition of every built-in operator: they equal central differences, and cut
// like everything else they equal the whole.
#include "opsemantics/gradient/gradient.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/types/optional.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/oracle/interpret.h"
#include "tests/opsemantics/support/registry.h"
#include "tests/opsemantics/support/strategies.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

ElementType Wide(ElementType type) { return IsFloat(type) ? ElementType::kF64 : type; }

ExprPtr InDouble(const ExprPtr& term) {
  auto copy = std::make_shared<Expr>(*term);
  copy->type = Wide(copy->type);
  for (ExprPtr& arg : copy->args) arg = InDouble(arg);
  return copy;
}

// The definition with f64 in the place of every type of floats, so that differences are exact
// enough.
Definition InDouble(Definition definition) {
  for (TensorType& operand : definition.operands) operand.type = Wide(operand.type);
  definition.result.type = Wide(definition.result.type);
  definition.body = InDouble(definition.body);
  return definition;
}

std::vector<bool> Floats(const Definition& definition) {
  std::vector<bool> floats;
  for (const TensorType& operand : definition.operands) floats.push_back(IsFloat(operand.type));
  return floats;
}

enum class Signs { kPositive, kMixed };

// A definition at made-up values, and the weighted sum of its result's elements: what it is
// differentiated as.
struct Point {
  Point(const Definition& of, Signs signs) : definition(of) {
    operands = MadeUpOperands(definition, Arithmetic::kFloat, 5);
    size_t count = 0;
    for (TensorValue& operand : operands) {  // away from 0, where quotients are steep
      if (!IsFloat(operand.type.type)) continue;
      for (Scalar& element : operand.elements) {
        element.number += 0.1;
        if (signs == Signs::kMixed && ++count % 3 != 0) element.number = -element.number;
      }
    }
    Definition weighted = definition;  // its last operand has the result's type
    weighted.operands.push_back(definition.result);
    weights = MadeUpOperands(weighted, Arithmetic::kFloat, 6).back();
  }

  double Value() const {
    const TensorValue result = RunWhole(definition, Arithmetic::kFloat, operands);
    double sum = 0;
    for (size_t e = 0; e < result.elements.size(); ++e)
      sum += result.elements[e].number * weights.elements[e].number;
    return sum;
  }

  // The value of the definition, whose operands are as GradientShare::sources has them.
  TensorValue Run(const Definition& share, const std::vector<int>& sources,
                  const TensorValue& place) const {
    std::vector<TensorValue> values;
    for (const int source : sources) {
      const int own = static_cast<int>(operands.size());
      values.push_back(source < own ? operands[source] : source == own ? weights : place);
    }
    return RunWhole(share, Arithmetic::kFloat, values);
  }

  const Definition& definition;
  std::vector<TensorValue> operands;
  TensorValue weights;
};

// [operand][element]: the gradients, from the derived definitions.
std::vector<std::vector<double>> Derived(const Point& point, const Gradient& gradient) {
  std::vector<std::vector<double>> sums;
  for (const TensorValue& operand : point.operands) sums.emplace_back(operand.elements.size(), 0.0);
  TensorValue place;
  if (gradient.place.has_value())
    place = RunWhole(*gradient.place, Arithmetic::kFloat, point.operands);
  for (const GradientShare& share : gradient.shares) {
    const TensorValue value = point.Run(share.definition, share.sources, place);
    REQUIRE(value.elements.size() == sums[share.operand].size());
    for (size_t e = 0; e < value.elements.size(); ++e)
      sums[share.operand][e] += value.elements[e].number;
  }
  return sums;
}

// [operand][element]: central differences of up to 25 elements of each operand; none for others,
// and at corners, where those from the left and from the right differ.
struct Differences {
  std::vector<std::vector<absl::optional<double>>> values;
  int elements = 0, corners = 0;
};

Differences CentralDifferences(Point& point) {
  constexpr double kStep = 1e-5;
  Differences found;
  const double value = point.Value();
  for (TensorValue& operand : point.operands) {
    std::vector<Scalar>& elements = operand.elements;
    found.values.emplace_back(elements.size());
    if (!IsFloat(operand.type.type)) continue;
    const size_t stride = elements.size() / 25 + 1;
    for (size_t e = 0; e < elements.size(); e += stride) {
      const double kept = elements[e].number;
      elements[e].number = kept + kStep;
      const double right = (point.Value() - value) / kStep;
      elements[e].number = kept - kStep;
      const double left = (value - point.Value()) / kStep;
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

// Whether the gradients are the differences; where one is not, says so. Made-up attributes may
// divide by 0: `strange` counts those elements, which are not compared.
bool AreEqual(const std::vector<std::vector<double>>& derived, const Differences& differences,
              double tolerance, int& strange) {
  for (size_t k = 0; k < derived.size(); ++k) {
    for (size_t e = 0; e < derived[k].size(); ++e) {
      const absl::optional<double>& difference = differences.values[k][e];
      if (!difference.has_value()) continue;
      if (std::isnan(derived[k][e])) {
        ++strange;
        continue;
      }
      const double scale = 1 + std::abs(*difference);
      if (derived[k][e] == Approx(*difference).margin(tolerance * scale).epsilon(tolerance))
        continue;
      UNSCOPED_INFO("operand " << k << ", element " << e << ": " << derived[k][e] << ", and by "
                               << "differences " << *difference);
      return false;
    }
  }
  return true;
}

TEST_CASE("gradients of every operator equal central differences") {
  int definitions = 0, elements = 0, corners = 0, strange = 0, undefined = 0;
  std::set<std::string> without;
  for (const RegistryEntry& entry : RegistryDefinitions()) {
    const Definition definition = InDouble(entry.definition);
    INFO(entry.op << ": " << ToString(definition));
    const auto gradient = GradientOf(definition, Floats(definition));
    if (!gradient.ok()) {
      without.insert(entry.op);
      continue;
    }
    if (definition.nograd || !IsFloat(definition.result.type)) {
      CHECK(gradient->shares.empty());
      continue;
    }
    for (const GradientShare& share : gradient->shares) UNSCOPED_INFO(ToString(share.definition));
    Point point(definition, Signs::kPositive);
    const Differences differences = CentralDifferences(point);
    CHECK(AreEqual(Derived(point, *gradient), differences, 1e-5, strange));
    ++definitions;
    elements += differences.elements;
    corners += differences.corners;
    // Quotients are steeper there, and roots and logarithms have no differences.
    Point mixed(definition, Signs::kMixed);
    CHECK(AreEqual(Derived(mixed, *gradient), CentralDifferences(mixed), 1e-4, undefined));
  }
  CHECK(without == std::set<std::string>{"reduce_prod"});
  CHECK(definitions > 500);
  CHECK(corners * 100 < elements);
  CHECK(strange < 10);
  CHECK(undefined < 10);
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

// The definition with a sign error: in one of its terms, and the whole negated.
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

// Whether something of the operand's gradient can be seen: where nothing depends on it, such as in
// a branch that is not taken, errors have no effect.
bool Depends(const std::vector<Differences>& differences, int operand) {
  for (const Differences& found : differences) {
    for (const absl::optional<double>& value : found.values[operand]) {
      if (value.has_value() && std::abs(*value) > 1e-6) return true;
    }
  }
  return false;
}

TEST_CASE("a sign error in a gradient is noticed") {
  int faults = 0, noticed = 0;
  std::map<std::string, int> missed;
  for (const RegistryEntry& entry : RegistryDefinitions()) {
    const Definition definition = InDouble(entry.definition);
    const auto gradient = GradientOf(definition, Floats(definition));
    if (!gradient.ok() || gradient->shares.empty()) continue;
    std::vector<Point> points;
    std::vector<Differences> differences;
    for (const Signs signs : {Signs::kPositive, Signs::kMixed}) {
      points.emplace_back(definition, signs);
      differences.push_back(CentralDifferences(points.back()));
    }
    const auto equal = [&](const Gradient& derived) {
      int strange = 0;
      for (size_t p = 0; p < points.size(); ++p) {
        if (!AreEqual(Derived(points[p], derived), differences[p], 1e-4, strange)) return false;
      }
      return true;
    };
    for (size_t s = 0; s < gradient->shares.size(); ++s) {
      if (!Depends(differences, gradient->shares[s].operand)) continue;
      for (Definition& faulty : WithSignErrors(gradient->shares[s].definition)) {
        Gradient wrong = *gradient;
        wrong.shares[s].definition = std::move(faulty);
        ++faults;
        if (!equal(wrong))
          ++noticed;
        else
          ++missed[entry.op];
      }
    }
  }
  std::string list;
  for (const auto& [op, count] : missed) list += " " + op + " " + std::to_string(count);
  INFO("not noticed:" << list);
  INFO(noticed << " of " << faults << " sign errors are noticed");
  CHECK(faults > 1000);
  CHECK(noticed * 100 >= faults * 95);
}

TEST_CASE("gradients of every operator are cut like everything else") {
  int partitions = 0;
  for (const RegistryEntry& entry : RegistryDefinitions()) {
    const auto gradient = GradientOf(entry.definition, Floats(entry.definition));
    if (!gradient.ok()) continue;
    for (const GradientShare& share : gradient->shares) {
      const Definition& definition = share.definition;
      INFO(entry.op << ": " << ToString(entry.definition));
      INFO(ToString(definition));
      const std::vector<TensorValue> operands = MadeUpOperands(definition, Arithmetic::kHash, 5);
      const TensorValue whole = RunWhole(definition, Arithmetic::kHash, operands);
      const Mesh mesh = MeshOf(3);
      for (const Sharding& sharding : Strategies(definition, mesh)) {
        INFO("cut " << ShardingText(definition, sharding, mesh));
        const NodeBoxes boxes = AnalyzeNode(definition, sharding, mesh);
        const TensorValue parts = RunInParts(definition, boxes, Arithmetic::kHash, operands);
        CHECK(FirstDifference(whole, parts, Arithmetic::kHash, 0) == "");
        ++partitions;
      }
    }
  }
  CHECK(partitions > 1000);
}

}  // namespace
}  // namespace yuba
