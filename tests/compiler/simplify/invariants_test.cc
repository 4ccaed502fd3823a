// MoveInvariantsToInit: what moves, what stays, and that both graphs compute the same.
#include "compiler/simplify/invariants.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/compiler/support/carried_graphs.h"
#include "tests/compiler/support/small_graphs.h"

namespace yuba::compiler {
namespace {

int NodesOfInit(const Graph& graph) {
  return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) {
    return graph.entries[n.entry].name == kInitEntry;
  }));
}

// The outputs of the graph on values by name, in hash arithmetic.
std::vector<TensorValue> OutputsOf(const Graph& graph,
                                   const std::map<std::string, TensorValue>& by_name) {
  std::vector<TensorValue> values(graph.tensors.size());
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    const auto found = by_name.find(tensor.name);
    if (found != by_name.end()) values[t] = found->second;
    if (found == by_name.end() && IsStored(tensor.kind)) {
      values[t].type = tensor.type;
      values[t].elements.resize(ElementCount(tensor.type));
    }
  }
  InterpretGraph(graph, Arithmetic::kHash, values);
  std::vector<TensorValue> outputs;
  for (const TensorId output : graph.outputs) outputs.push_back(values[output]);
  return outputs;
}

// x[i, j] * rsqrt(v[j]): a root of a parameter inside a map of x.
Model Scaled(TensorKind kind) {
  ModelBuilder build;
  const TensorId x = build.Input({8, 6}), v = build.Input({6}, kind);
  Model model = build.Finish({build.MultiplyRow(x, v)});
  Node& node = model.graph.nodes[0];
  Definition definition = *node.definition;
  Expr product = *definition.body;
  auto root = std::make_shared<Expr>();
  root->kind = Expr::kCall;
  root->function = Function::kRsqrt;
  root->args = {product.args[1]};
  product.args[1] = root;
  definition.body = std::make_shared<const Expr>(product);
  node.definition = std::make_shared<const Definition>(definition);
  return model;
}

std::map<std::string, TensorValue> ValuesOf(const Graph& graph) {
  Random random(3);
  const std::vector<TensorValue> values = RandomValues(graph, Arithmetic::kHash, random);
  std::map<std::string, TensorValue> by_name;
  for (size_t t = 0; t < values.size(); ++t) {
    if (IsStored(graph.tensors[t].kind)) by_name[graph.tensors[t].name] = values[t];
  }
  return by_name;
}

TEST_CASE("a root of a parameter is computed once, an entry before") {
  const Model before = Scaled(TensorKind::kParameter);
  Model model = before;
  MoveInvariantsToInit(model);
  const Graph& graph = model.graph;
  REQUIRE(graph.entries.size() == 2);
  CHECK(graph.entries[0].name == kInitEntry);
  REQUIRE(NodesOfInit(graph) == 1);
  const Tensor& root = graph.tensors[graph.nodes[0].result];
  CHECK(root.kind == TensorKind::kState);
  CHECK(root.type.dims == std::vector<int64_t>{6});
  CHECK(ToString(*graph.nodes[1].definition).find("rsqrt") == std::string::npos);
  const auto values = ValuesOf(before.graph);
  CHECK(SameElements(OutputsOf(graph, values), OutputsOf(before.graph, values)));
}

TEST_CASE("what an input or a state decides stays") {
  for (const TensorKind kind : {TensorKind::kInput, TensorKind::kState}) {
    Model model = Scaled(kind);
    MoveInvariantsToInit(model);
    CHECK(model.graph.entries == Graph().entries);
    CHECK(NodesOfInit(model.graph) == 0);
  }
}

TEST_CASE("a node of parameters alone moves, and so does what reads it") {
  ModelBuilder build;
  const TensorId x = build.Input({4, 6}), a = build.Input({6, 5}, TensorKind::kParameter);
  const TensorId b = build.Input({5, 6}, TensorKind::kParameter);
  const TensorId product = build.Relu(build.MatMul(a, b));
  const Model before = build.Finish({build.MatMul(x, product)});
  Model model = before;
  MoveInvariantsToInit(model);
  CHECK(NodesOfInit(model.graph) == 2);
  const auto values = ValuesOf(before.graph);
  CHECK(SameElements(OutputsOf(model.graph, values), OutputsOf(before.graph, values)));
}

TEST_CASE("a graph in which nothing moves stays as it is") {
  ModelBuilder build;
  const Model before = build.Finish(
      {build.MatMul(build.Input({4, 6}), build.Input({6, 5}, TensorKind::kParameter))});
  Model model = before;
  MoveInvariantsToInit(model);
  CHECK(model.graph.entries == before.graph.entries);
  CHECK(model.graph.tensors.size() == before.graph.tensors.size());
}

}  // namespace
}  // namespace yuba::compiler
