// Gradients of every definition of every built-in operator: they equal central differences, and cut
// like everything else they equal the whole.
#include "opsemantics/gradient/gradient.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "opsemantics/definition/index_names.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/oracle/interpret.h"
#include "tests/opsemantics/support/differences.h"
#include "tests/opsemantics/support/registry.h"
#include "tests/opsemantics/support/strategies.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

std::vector<bool> Floats(const Definition& definition) {
  std::vector<bool> floats;
  for (const TensorType& operand : definition.operands) floats.push_back(IsFloat(operand.type));
  return floats;
}

// A definition at made-up values, and the weighted sum of its result's elements: what it is
// differentiated as.
struct Point {
  Point(const Definition& of, Signs signs) : definition(of) {
    operands = MadeUpOperands(definition, Arithmetic::kFloat, 5);
    MakeSigned(signs, operands);
    Definition weighted = definition;  // its last operand has the result's type
    weighted.operands.push_back(definition.result);
    weights = MadeUpOperands(weighted, Arithmetic::kFloat, 6).back();
  }

  double Value() const {
    return WeightedSum(RunWhole(definition, Arithmetic::kFloat, operands), weights);
  }

  // The value of the definition, whose operands are as GradientShare::sources has them, the last of
  // which is `last`: the place, or the result.
  TensorValue Run(const Definition& share, const std::vector<int>& sources,
                  const TensorValue& last) const {
    std::vector<TensorValue> values;
    for (const int source : sources) {
      const int own = static_cast<int>(operands.size());
      values.push_back(source < own ? operands[source] : source == own ? weights : last);
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
  const TensorValue last = RunWhole(gradient.place.has_value() ? *gradient.place : point.definition,
                                    Arithmetic::kFloat, point.operands);
  for (const GradientShare& share : gradient.shares) {
    const TensorValue value = point.Run(share.definition, share.sources, last);
    REQUIRE(value.elements.size() == sums[share.operand].size());
    for (size_t e = 0; e < value.elements.size(); ++e)
      sums[share.operand][e] += value.elements[e].number;
  }
  return sums;
}

Differences DifferencesAt(Point& point) {
  return CentralDifferences(point.operands, [&] { return point.Value(); });
}

TEST_CASE("the gradient of a part of a concatenation is a map") {
  // y[i, j] is a[j], b[j] or c[j], as i is 0, 1 or 2.
  Definition stack;
  stack.name = "y";
  stack.indices = {{"i", 3, false}, {"j", 4, false}};
  stack.left = {IndexAffine(0), IndexAffine(1)};
  stack.result = {ElementType::kF32, {3, 4}};
  stack.operands.assign(3, {ElementType::kF32, {4}});
  const auto part = [&](int operand) {
    return ReadExpr(operand, {IndexAffine(1)}, ElementType::kF32);
  };
  const auto below = [&](int64_t end) {
    return CallExpr(Function::kLt,
                    {IndexExpr(IndexAffine(0)), LiteralExpr(ElementType::kI64, end, 0)},
                    ElementType::kBool);
  };
  const auto select = [](ExprPtr condition, ExprPtr a, ExprPtr b) {
    return CallExpr(Function::kSelect, {std::move(condition), std::move(a), std::move(b)},
                    ElementType::kF32);
  };
  stack.body = select(below(1), part(0), select(below(2), part(1), part(2)));
  const Gradient gradient = GradientOf(stack, {true, true, true}).value();
  REQUIRE(gradient.shares.size() == 3);
  for (int operand = 0; operand < 3; ++operand) {
    const Definition& share = gradient.shares[operand].definition;
    CHECK(share.reducer == Reducer::kNone);
    CHECK(ToString(share) ==
          "dx" + std::to_string(operand) + "[j: 4] = x0[" + std::to_string(operand) + ", j]");
  }
}

TEST_CASE("an index of a gradient has no name of another index") {
  // y[q1] = sum(u) x0[q1 + u, 2*q1]: neither dimension of x0 is read at a bare index, so that its
  // gradient has an index of its own for each, which would be called q0 and q1.
  Definition windows;
  windows.name = "y";
  windows.indices = {{"q1", 3, false}, {"u", 2, true}};
  windows.left = {IndexAffine(0)};
  windows.result = {ElementType::kF32, {3}};
  windows.operands = {{ElementType::kF32, {4, 5}}};
  windows.reducer = Reducer::kSum;
  windows.body =
      ReadExpr(0, {IndexAffine(0) + IndexAffine(1), IndexAffine(0) * 2}, ElementType::kF32);
  const Gradient gradient = GradientOf(windows, {true}).value();
  REQUIRE(gradient.shares.size() == 1);
  CHECK(HasDistinctIndices(gradient.shares[0].definition));
  for (const RegistryEntry& entry : RegistryDefinitions()) {
    INFO(entry.op << ": " << ToString(entry.definition));
    CHECK(HasDistinctIndices(entry.definition));
    const auto derived = GradientOf(entry.definition, Floats(entry.definition));
    if (!derived.ok()) continue;
    for (const GradientShare& share : derived->shares) {
      INFO(ToString(share.definition));
      CHECK(HasDistinctIndices(share.definition));
    }
  }
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
    const Differences differences = DifferencesAt(point);
    CHECK(AreEqual(Derived(point, *gradient), differences, 1e-5, strange));
    ++definitions;
    elements += differences.elements;
    corners += differences.corners;
    // Quotients are steeper there, and roots and logarithms have no differences.
    Point mixed(definition, Signs::kMixed);
    CHECK(AreEqual(Derived(mixed, *gradient), DifferencesAt(mixed), 1e-4, undefined));
  }
  CHECK(without == std::set<std::string>{"reduce_prod"});
  CHECK(definitions > 500);
  CHECK(corners * 100 < elements);
  CHECK(strange < 10);
  CHECK(undefined < 10);
}

TEST_CASE("the gradient of every function equals central differences") {
  for (const FunctionFacts& facts : Functions()) {
    if (facts.rule != TypeRule::kNumber && facts.rule != TypeRule::kFloat) continue;
    Definition definition;
    definition.name = "y";
    definition.indices = {{"i", 20, false}};
    definition.left = {IndexAffine(0)};
    definition.result = {ElementType::kF64, {20}};
    definition.operands.assign(facts.arguments, definition.result);
    std::vector<ExprPtr> args;
    for (int a = 0; a < facts.arguments; ++a)
      args.push_back(ReadExpr(a, {IndexAffine(0)}, ElementType::kF64));
    definition.body = CallExpr(facts.function, std::move(args), ElementType::kF64);
    INFO(ToString(definition));
    Point point(definition, Signs::kPositive);
    const Differences differences = DifferencesAt(point);
    int strange = 0;
    CHECK(AreEqual(Derived(point, GradientOf(definition, Floats(definition)).value()), differences,
                   1e-5, strange));
    CHECK(strange == 0);
    CHECK(differences.corners * 10 <= differences.elements);
  }
}

// y[i] = body, of f32; operands of 5 elements.
Definition MapOf(ExprPtr body, int operands) {
  Definition map;
  map.name = "y";
  map.indices = {{"i", 5, false}};
  map.left = {IndexAffine(0)};
  map.result = {ElementType::kF32, {5}};
  map.operands.assign(operands, map.result);
  map.body = std::move(body);
  return map;
}

ExprPtr Operand(int operand) { return ReadExpr(operand, {IndexAffine(0)}, ElementType::kF32); }
ExprPtr Call(Function function, std::vector<ExprPtr> args) {
  return CallExpr(function, std::move(args), ElementType::kF32);
}
ExprPtr Literal(double number) { return LiteralExpr(ElementType::kF32, 0, number); }

TEST_CASE("gradients read the result where it alone says the slope") {
  const ExprPtr sum = Call(Function::kAdd, {Operand(0), Operand(1)});
  const auto gradient = [](const ExprPtr& body, int operands) {
    const Definition map = MapOf(body, operands);
    const Gradient of = GradientOf(map, std::vector<bool>(operands, true)).value();
    REQUIRE(of.shares.size() == static_cast<size_t>(operands));
    std::string text = ToString(of.shares[0].definition);
    text.erase(0, text.find('=') + 2);
    const std::vector<int>& sources = of.shares[0].sources;
    const bool result = std::count(sources.begin(), sources.end(), operands + 1) > 0;
    const bool operand = sources.front() < operands;
    return text + (result ? ", of the result" : "") + (operand ? ", of operands" : "");
  };
  CHECK(gradient(Call(Function::kMax, {sum, Literal(0)}), 2) ==
        "if 0 < x1[i] then x0[i] else 0, of the result");
  CHECK(gradient(Call(Function::kMax, {Literal(0), sum}), 2) ==
        "if 0 < x1[i] then x0[i] else 0, of the result");
  CHECK(gradient(Call(Function::kMin, {sum, Literal(6)}), 2) ==
        "if x1[i] < 6 then x0[i] else 0, of the result");
  CHECK(gradient(Call(Function::kTanh, {sum}), 2) ==
        "x0[i] * (1 + -(x1[i] * x1[i])), of the result");
  CHECK(gradient(Call(Function::kSig, {sum}), 2) ==
        "x0[i] * (x1[i] * (1 + -x1[i])), of the result");
  CHECK(gradient(Call(Function::kExp, {sum}), 2) == "x0[i] * x1[i], of the result");
  CHECK(gradient(Call(Function::kSqrt, {sum}), 2) == "x0[i] * (0.5 / x1[i]), of the result");
  // The result is not enough, or nothing is needed.
  CHECK(gradient(Call(Function::kRsqrt, {sum}), 2).find("of the result") == std::string::npos);
  CHECK(gradient(Call(Function::kMul, {Operand(0), Call(Function::kSig, {Operand(0)})}), 1)
            .find("of the result") == std::string::npos);
  CHECK(gradient(sum, 2) == "x0[i]");
  CHECK(gradient(Call(Function::kMin, {Call(Function::kMax, {sum, Literal(0)}), Literal(6)}), 2)
            .find(", of operands") != std::string::npos);
}

TEST_CASE("gradients of max and min from results are 0 at the bound, and of NaN") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const bool max : {true, false}) {
    const Definition map =
        MapOf(Call(max ? Function::kMax : Function::kMin, {Operand(0), Literal(0)}), 1);
    TensorValue x, dy;
    x.type = dy.type = map.result;
    x.elements.resize(5);
    dy.elements.resize(5);
    const double values[5] = {-1, -0.0, 0, 1, kNan};
    for (int e = 0; e < 5; ++e) {
      x.elements[e].number = max ? values[e] : -values[e];
      dy.elements[e].number = 3;
    }
    const TensorValue y = RunWhole(map, Arithmetic::kFloat, {x});
    const Gradient gradient = GradientOf(map, {true}).value();
    REQUIRE(gradient.shares.size() == 1);
    std::vector<TensorValue> operands;
    for (const int source : gradient.shares[0].sources) {
      REQUIRE(source > 0);  // not x
      operands.push_back(source == 1 ? dy : y);
    }
    const TensorValue dx = RunWhole(gradient.shares[0].definition, Arithmetic::kFloat, operands);
    const double expected[5] = {0, 0, 0, 3, 0};
    for (int e = 0; e < 5; ++e) CHECK(dx.elements[e].number == expected[e]);
  }
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
      differences.push_back(DifferencesAt(points.back()));
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
