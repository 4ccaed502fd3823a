// FoldScales: what is folded into which parameter, what stays, and that both graphs compute the
// same: in hash arithmetic sums and products may be in any order.
#include "compiler/simplify/fold_scales.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compiler/simplify/invariants.h"
#include "opsemantics/definition/shared_terms.h"
#include "tests/compiler/support/carried_graphs.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::compiler {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1);

ExprPtr Sum(ExprPtr a, ExprPtr b) { return Call(Function::kAdd, {std::move(a), std::move(b)}); }
ExprPtr Product(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {std::move(a), std::move(b)}); }
ExprPtr Minus(ExprPtr a, ExprPtr b) { return Call(Function::kSub, {std::move(a), std::move(b)}); }

// A map of x * w, which is 8 x 6 and operand 0, and of the rows m, s and b, operands 1 to 3.
struct Layer {
  ModelBuilder build;
  TensorId weight = -1, product = -1, map = -1;

  Layer(const ExprPtr& body, TensorKind weight_kind, TensorKind row_kind) {
    weight = build.Input({5, 6}, weight_kind);
    product = build.MatMul(build.Input({8, 5}), weight);
    std::vector<TensorId> rows;
    for (int r = 0; r < 3; ++r) rows.push_back(build.Input({6}, row_kind));
    map = build.AddRow(product, rows[0]);
    rows_ = rows;
    body_ = body;
  }

  Model Finish(std::vector<TensorId> outputs) {
    Model model = build.Finish(std::move(outputs));
    Node& node = model.graph.nodes.back();
    Definition definition = *node.definition;
    definition.operands.resize(2);
    for (int r = 1; r < 3; ++r) definition.operands.push_back(definition.operands[1]);
    node.operands = {product, rows_[0], rows_[1], rows_[2]};
    definition.body = body_;
    ShareTerms(definition);
    node.definition = std::make_shared<const Definition>(definition);
    Link(model.graph);
    return model;
  }

 private:
  std::vector<TensorId> rows_;
  ExprPtr body_;
};

ExprPtr V() { return Read(0, {i, j}); }
ExprPtr Row(int operand) { return Read(operand, {j}); }

Model Folded(Model model) {
  FoldScales(model);
  MoveInvariantsToInit(model);
  return model;
}

std::vector<TensorValue> Output(const Graph& graph, std::vector<TensorValue> values) {
  for (size_t t = values.size(); t < graph.tensors.size(); ++t) {
    values.emplace_back();
    values[t].type = graph.tensors[t].type;
    values[t].elements.resize(ElementCount(values[t].type));
  }
  InterpretGraph(graph, Arithmetic::kHash, values);
  return {values[graph.outputs[0]]};
}

void CheckSame(const Model& before, const Model& after) {
  Random random(7);
  const auto values = RandomValues(before.graph, Arithmetic::kHash, random);
  CHECK(SameElements(Output(before.graph, values), Output(after.graph, values)));
}

constexpr TensorKind kWeight = TensorKind::kParameter;

TEST_CASE("a batch norm behind a product is a scaled parameter and one row that is added") {
  const std::vector<ExprPtr> bodies = {Sum(Product(Minus(V(), Row(1)), Row(2)), Row(3)),
                                       Sum(Row(3), Product(Row(2), Sum(Row(1), V()))),
                                       Product(Minus(V(), Row(1)), Row(2)),
                                       Product(V(), Product(Row(2), Row(1)))};
  for (const ExprPtr& body : bodies) {
    Layer layer(body, kWeight, kWeight);
    const Model before = layer.Finish({layer.map});
    const Model after = Folded(before);
    CheckSame(before, after);
    INFO(ToString(*after.graph.nodes.back().definition));
    REQUIRE(after.graph.entries.size() == 2);
    CHECK(after.graph.nodes.back().operands.size() <= 2);
    CHECK(ToString(*after.graph.nodes.back().definition).find('*') == std::string::npos);
  }
}

TEST_CASE("what may change stays where it is") {
  const ExprPtr body = Sum(Product(Minus(V(), Row(1)), Row(2)), Row(3));
  const auto unchanged = [&](TensorKind weight, TensorKind row) {
    Layer layer(body, weight, row);
    Model model = layer.Finish({layer.map});
    FoldScales(model);
    return model.graph.nodes.size() == 2;
  };
  CHECK(unchanged(TensorKind::kInput, kWeight));
  CHECK(unchanged(kWeight, TensorKind::kInput));
  CHECK_FALSE(unchanged(kWeight, kWeight));
}

TEST_CASE("a value that is used twice, or read by others, is not scaled before") {
  Layer twice(Sum(Product(V(), Row(2)), V()), kWeight, kWeight);
  Model model = twice.Finish({twice.map});
  FoldScales(model);
  CHECK(model.graph.nodes.size() == 2);
  Layer read(Product(V(), Row(2)), kWeight, kWeight);
  Model other = read.Finish({read.map, read.product});
  FoldScales(other);
  CHECK(other.graph.nodes.size() == 2);
}

}  // namespace
}  // namespace yuba::compiler
