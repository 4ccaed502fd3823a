// Gradients of random graphs equal central differences: of tensors with several readers, through
// products, windows, maxima, sums and broadcasts.
#include "compiler/train/gradients.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "opsemantics/oracle/interpret.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

ExprPtr InDouble(const ExprPtr& term) {
  auto copy = std::make_shared<Expr>(*term);
  if (IsFloat(copy->type)) copy->type = ElementType::kF64;
  for (ExprPtr& arg : copy->args) arg = InDouble(arg);
  return copy;
}

// The graph with f64 in the place of f32, so that differences are exact enough.
void MakeDouble(Graph& graph) {
  const auto widen = [](TensorType& type) {
    if (IsFloat(type.type)) type.type = ElementType::kF64;
  };
  for (Tensor& tensor : graph.tensors) widen(tensor.type);
  for (Node& node : graph.nodes) {
    Definition definition = *node.definition;
    for (TensorType& operand : definition.operands) widen(operand);
    widen(definition.result);
    definition.body = InDouble(definition.body);
    node.definition = std::make_shared<const Definition>(std::move(definition));
  }
}

// A few nodes of random kinds, and the sum of what the last of them computes.
Model RandomLoss(Random& random) {
  ModelBuilder build;
  const auto size = [&] { return int64_t{2} + static_cast<int64_t>(random() % 5); };
  std::vector<TensorId> matrices = {build.Input({size(), size()}, TensorKind::kParameter)};
  const size_t nodes = 2 + random() % 5;
  for (size_t n = 0; n < nodes; ++n) matrices.push_back(AddRandomNode(build, matrices, random));
  TensorId loss = matrices.back();
  while (!build.Dims(loss).empty()) loss = build.Reduce(loss, Reducer::kSum);
  Model model = build.Finish({loss});
  MakeDouble(model.graph);
  return model;
}

double LossAt(const Graph& graph, TensorId loss, std::vector<TensorValue> values) {
  InterpretGraph(graph, Arithmetic::kFloat, values);
  return values[loss].elements[0].number;
}

TEST_CASE("gradients of random graphs equal central differences") {
  constexpr double kStep = 1e-5;
  int elements = 0, corners = 0, summed = 0;
  for (int seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Model before = RandomLoss(random);
    const TensorId loss = before.graph.outputs[0];
    std::vector<TensorId> of;
    for (size_t t = 0; t < before.graph.tensors.size(); ++t) {
      if (before.graph.tensors[t].kind == TensorKind::kParameter)
        of.push_back(static_cast<TensorId>(t));
    }
    Model model = before;
    const auto gradients = AddGradients(model, loss, of);
    REQUIRE_THAT(gradients, IsOk());
    for (const Node& node : model.graph.nodes) summed += node.op == "sum.grad";
    std::vector<TensorValue> given = RandomValues(before.graph, Arithmetic::kFloat, random);
    std::vector<TensorValue> values = given;
    values.resize(model.graph.tensors.size());
    for (const auto& [id, value] : model.values) {
      if (id < static_cast<TensorId>(given.size())) continue;
      values[id].type = model.graph.tensors[id].type;  // the loss's own gradient
      values[id].elements.resize(1);
      values[id].elements[0].number = 1;
    }
    InterpretGraph(model.graph, Arithmetic::kFloat, values);
    for (size_t k = 0; k < of.size(); ++k) {
      for (size_t e = 0; e < given[of[k]].elements.size(); ++e) {
        INFO("seed " << seed << ", " << before.graph.tensors[of[k]].name << ", element " << e);
        double& element = given[of[k]].elements[e].number;
        const double kept = element, middle = LossAt(before.graph, loss, given);
        element = kept + kStep;
        const double right = (LossAt(before.graph, loss, given) - middle) / kStep;
        element = kept - kStep;
        const double left = (middle - LossAt(before.graph, loss, given)) / kStep;
        element = kept;
        const double scale = 1 + std::abs(left);
        ++elements;
        if (std::abs(right - left) > 1e-2 * scale) {
          ++corners;
          continue;
        }
        const int gradient = (*gradients)[k];
        const double derived = gradient < 0 ? 0 : values[gradient].elements[e].number;
        CHECK(derived == Approx((left + right) / 2).margin(1e-4 * scale));
      }
    }
  }
  CHECK(elements > 2000);
  CHECK(corners * 50 < elements);
  CHECK(summed > 20);
}

}  // namespace
}  // namespace yuba::compiler
