// ComposeMaps on chains of maps each of which reads the one before twice: the bodies that it makes
// have as many nodes as terms, and compute what the chain computes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "compiler/simplify/simplify.h"
#include "opsemantics/definition/shared_terms.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::compiler {
namespace {

// x, then x * x, then the square of that, ...: `squares` nodes. Each reads its operand in two nodes
// of its own.
Model Squares(int squares) {
  Model model;
  Graph& graph = model.graph;
  for (int t = 0; t <= squares; ++t) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(t);
    tensor.kind = t == 0 ? TensorKind::kInput : TensorKind::kActivation;
    tensor.type = {ElementType::kF32, {8}};
    tensor.dims = {{8}};
    graph.tensors.push_back(tensor);
    if (t == 0) continue;
    Node node;
    node.name = tensor.name;
    node.operands = {t - 1};
    node.result = t;
    const Affine i = IndexAffine(0);
    node.definition = std::make_shared<const Definition>(
        Define({8}, 1, Reducer::kNone, {{8}}, Call(Function::kMul, {Read(0, {i}), Read(0, {i})})));
    graph.nodes.push_back(node);
  }
  graph.inputs = {0};
  graph.outputs = {squares};
  Link(graph);
  CheckGraph(graph);
  return model;
}

std::vector<int> TermsOf(const Graph& graph) {
  std::vector<int> terms;
  for (const Node& node : graph.nodes) terms.push_back(DistinctTerms(node.definition->body));
  return terms;
}

TEST_CASE("a chain of squares becomes one map of as many terms") {
  Model model = Squares(60);
  ComposeMaps(model);
  CHECK(TermsOf(model.graph) == std::vector<int>{61});
  CHECK(TreeSize(model.graph.nodes[0].definition->body) == (int64_t{1} << 61) - 1);
  CHECK(HashOfGraph(model.graph).size() == 32);
}

TEST_CASE("the bound on bodies is on distinct terms") {
  Model model = Squares(100);
  ComposeMaps(model);
  CHECK(TermsOf(model.graph) == std::vector<int>{64, 38});
}

TEST_CASE("composed chains compute what the chain computes") {
  Random random(7);
  Model model = Squares(60);
  std::vector<TensorValue> one_by_one = RandomValues(model.graph, Arithmetic::kHash, random);
  std::vector<TensorValue> composed = one_by_one;
  InterpretGraph(model.graph, Arithmetic::kHash, one_by_one);
  ComposeMaps(model);
  InterpretGraph(model.graph, Arithmetic::kHash, composed);
  REQUIRE(composed.back().elements.size() == 8);
  for (size_t e = 0; e < 8; ++e) {
    CHECK(composed.back().elements[e].hash == one_by_one.back().elements[e].hash);
  }
}

TEST_CASE("maps that read one tensor and are read by one map share their terms") {
  // y = exp(x) * exp(x) with two maps that compute exp(x).
  Model model = Squares(1);
  Graph& graph = model.graph;
  const Affine i = IndexAffine(0);
  const auto exponential = std::make_shared<const Definition>(
      Define({8}, 1, Reducer::kNone, {{8}}, Call(Function::kExp, {Read(0, {i})})));
  const auto product = std::make_shared<const Definition>(Define(
      {8}, 1, Reducer::kNone, {{8}, {8}}, Call(Function::kMul, {Read(0, {i}), Read(1, {i})})));
  graph.tensors.push_back(graph.tensors[1]);
  graph.tensors.push_back(graph.tensors[1]);
  Node first = graph.nodes[0], second = first, third = first;
  first.definition = second.definition = exponential;
  second.result = 2;
  third.definition = product;
  third.operands = {1, 2};
  third.result = 3;
  graph.nodes = {first, second, third};
  graph.outputs = {3};
  Link(graph);
  ComposeMaps(model);
  REQUIRE(graph.nodes.size() == 1);
  CHECK(graph.nodes[0].operands == std::vector<TensorId>{0});
  CHECK(TermsOf(graph) == std::vector<int>{3});
}

}  // namespace
}  // namespace yuba::compiler
