// RecomputeMaps: which maps become part of several readers, and that values stay the same.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compiler/simplify/simplify.h"
#include "opsemantics/oracle/interpret.h"
#include "tests/compiler/support/small_graphs.h"

namespace yuba::compiler {
namespace {

// What is left, after a check that the outputs are what they were.
Model Recomputed(Model model) {
  Random random(1);
  std::vector<TensorValue> before = RandomValues(model.graph, Arithmetic::kFloat, random);
  std::vector<TensorValue> after = before;
  InterpretGraph(model.graph, Arithmetic::kFloat, before);
  RecomputeMaps(model);
  InterpretGraph(model.graph, Arithmetic::kFloat, after);
  for (const TensorId output : model.graph.outputs) {
    for (size_t e = 0; e < before[output].elements.size(); ++e)
      CHECK(before[output].elements[e].number == after[output].elements[e].number);
  }
  return model;
}

size_t NodesAfter(Model model) { return Recomputed(std::move(model)).graph.nodes.size(); }

TEST_CASE("a map of one large tensor is computed in all its readers") {
  ModelBuilder b;
  const TensorId x = b.MatMul(b.Input({32, 8}), b.Input({8, 16}, TensorKind::kParameter));
  const TensorId y = b.AddRow(x, b.Input({16}, TensorKind::kParameter));
  const TensorId a = b.Relu(y), r = b.Reduce(y, Reducer::kSum), s = b.SubtractColumn(y, r);
  // x, a, r, s
  CHECK(NodesAfter(b.Finish({a, r, s})) == 4);
}

TEST_CASE("a map is stored that a product reads, or the user") {
  for (const bool output : {false, true}) {
    ModelBuilder b;
    const TensorId x = b.MatMul(b.Input({32, 8}), b.Input({8, 16}, TensorKind::kParameter));
    const TensorId y = b.AddRow(x, b.Input({16}, TensorKind::kParameter));
    const TensorId a = b.Relu(y), r = b.Reduce(y, Reducer::kSum);
    if (output) {
      CHECK(NodesAfter(b.Finish({y, a, r})) == 4);
    } else {
      const TensorId p = b.MatMul(y, b.Input({16, 8}, TensorKind::kParameter));
      CHECK(NodesAfter(b.Finish({a, r, p})) == 5);
    }
  }
}

TEST_CASE("what reads a map that a product reads too computes it where its operand lives anyhow") {
  for (const bool lives : {false, true}) {
    ModelBuilder b;
    const TensorId x = b.MatMul(b.Input({32, 8}), b.Input({8, 16}, TensorKind::kParameter));
    const TensorId y = b.AddRow(x, b.Input({16}, TensorKind::kParameter));
    const TensorId p = b.MatMul(y, b.Input({16, 8}, TensorKind::kParameter));
    const TensorId a = b.Relu(y);
    std::vector<TensorId> outputs = {p, a};
    if (lives) outputs.push_back(b.Reduce(x, Reducer::kMax));
    const Model model = Recomputed(b.Finish(outputs));
    CHECK(model.graph.tensors[y].consumers.size() == (lives ? 1 : 2));
    CHECK(model.graph.tensors[x].consumers.size() == (lives ? 3 : 1));
  }
}

TEST_CASE("what reads a map of two large tensors that a product reads too reads it") {
  ModelBuilder b;
  const TensorId w = b.Input({8, 16}, TensorKind::kParameter);
  const TensorId u = b.MatMul(b.Input({32, 8}), w), v = b.MatMul(b.Input({32, 8}), w);
  const TensorId y = b.Add(u, v);
  const TensorId p = b.MatMul(y, b.Input({16, 8}, TensorKind::kParameter));
  const std::vector<TensorId> outputs = {p, b.Relu(y), b.Reduce(u, Reducer::kMax),
                                         b.Reduce(v, Reducer::kMax)};
  CHECK(Recomputed(b.Finish(outputs)).graph.tensors[y].consumers.size() == 2);
}

// y = u + v, which are read nowhere else, and by `readers` reductions.
Model SumOfTwo(int readers, bool used_later) {
  ModelBuilder b;
  const TensorId w = b.Input({8, 16}, TensorKind::kParameter);
  const TensorId u = b.MatMul(b.Input({32, 8}), w), v = b.MatMul(b.Input({32, 8}), w);
  const TensorId y = b.Add(u, v);
  std::vector<TensorId> outputs;
  for (int r = 0; r < readers; ++r) outputs.push_back(b.Reduce(y, Reducer::kSum));
  if (used_later) {
    outputs.push_back(b.Reduce(u, Reducer::kMax));
    outputs.push_back(b.Reduce(v, Reducer::kMax));
  }
  return b.Finish(outputs);
}

TEST_CASE("a map of two tensors is stored where both would be kept for it") {
  // Read twice, it would read no more: 4 tensors, where 5 are read and written for the sum.
  CHECK(NodesAfter(SumOfTwo(2, false)) == 5);
  CHECK(NodesAfter(SumOfTwo(2, true)) == 6);  // both are kept anyhow
}

TEST_CASE("a map is stored where its readers would read more") {
  CHECK(NodesAfter(SumOfTwo(3, true)) == 7);  // 6 beside 6
  CHECK(NodesAfter(SumOfTwo(4, true)) == 9);  // 8 beside 7: stored
}

}  // namespace
}  // namespace yuba::compiler
