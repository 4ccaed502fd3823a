// Gradients of every definition of every built-in operator: they equal central differences, and cut
// like everything else they equal the whole.
#include "opsemantics/gradient/gradient.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>
#include <utility>

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

// A definition at made-up values, and the weighted sum of its result's elements: what it is
// differentiated as.
struct Point {
  explicit Point(const Definition& of) : definition(of) {
    operands = MadeUpOperands(definition, Arithmetic::kFloat, 5);
    for (TensorValue& operand : operands) {  // away from 0, where quotients are steep
      if (!IsFloat(operand.type.type)) continue;
      for (Scalar& element : operand.elements) element.number += 0.1;
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

struct Differences {
  int elements = 0, corners = 0;
  int strange = 0;  // where made-up attributes divide by 0
};

// Compares up to 25 elements of each operand with central differences. Elements where those from
// the left and from the right differ are at a corner.
Differences CheckDifferences(Point& point, const std::vector<std::vector<double>>& derived) {
  constexpr double kStep = 1e-5;
  Differences counted;
  const double value = point.Value();
  for (size_t k = 0; k < point.operands.size(); ++k) {
    if (!IsFloat(point.operands[k].type.type)) continue;
    std::vector<Scalar>& elements = point.operands[k].elements;
    const size_t stride = elements.size() / 25 + 1;
    for (size_t e = 0; e < elements.size(); e += stride) {
      const double kept = elements[e].number;
      elements[e].number = kept + kStep;
      const double right = (point.Value() - value) / kStep;
      elements[e].number = kept - kStep;
      const double left = (value - point.Value()) / kStep;
      elements[e].number = kept;
      const double difference = (left + right) / 2, scale = 1 + std::abs(difference);
      ++counted.elements;
      if (!(std::abs(right - left) <= 1e-2 * scale)) {
        ++counted.corners;
        continue;
      }
      if (std::isnan(derived[k][e])) {
        ++counted.strange;
        continue;
      }
      INFO("operand " << k << ", element " << e);
      CHECK(derived[k][e] == Approx(difference).margin(1e-5 * scale).epsilon(1e-5));
    }
  }
  return counted;
}

TEST_CASE("gradients of every operator equal central differences") {
  int definitions = 0, elements = 0, corners = 0, strange = 0;
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
    Point point(definition);
    const Differences counted = CheckDifferences(point, Derived(point, *gradient));
    ++definitions;
    elements += counted.elements;
    corners += counted.corners;
    strange += counted.strange;
  }
  CHECK(without == std::set<std::string>{"reduce_prod"});
  CHECK(definitions > 500);
  CHECK(corners * 100 < elements);
  CHECK(strange < 10);
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
