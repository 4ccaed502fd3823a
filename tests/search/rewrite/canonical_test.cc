// Numbers and hashes of definitions are of their terms, however these are shared.
#include "search/rewrite/canonical.h"

#include <memory>
#include <string>

#include "catch2/catch.hpp"
#include "opsemantics/base/mesh.h"
#include "search/rewrite/accumulators.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::search {
namespace {

const Affine i = IndexAffine(0);

// t * t of t * t ... of x0[i]: with one node a term, or as a tree.
ExprPtr Squares(int depth, bool shared) {
  if (depth == 0) return Read(0, {i});
  const ExprPtr below = Squares(depth - 1, shared);
  return Call(Function::kMul, {below, shared ? below : Squares(depth - 1, false)});
}

// One map of x for each body.
Graph MapsOf(const std::vector<ExprPtr>& bodies) {
  Graph graph;
  const auto add = [&graph](TensorKind kind) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(graph.tensors.size());
    tensor.kind = kind;
    tensor.type = {ElementType::kF32, {8}};
    tensor.dims = {{8}};
    graph.tensors.push_back(tensor);
    return static_cast<TensorId>(graph.tensors.size()) - 1;
  };
  graph.inputs = {add(TensorKind::kInput)};
  for (const ExprPtr& body : bodies) {
    Node node;
    node.operands = {0};
    node.result = add(TensorKind::kActivation);
    node.name = graph.tensors[node.result].name;
    node.definition =
        std::make_shared<const Definition>(Define({8}, 1, Reducer::kNone, {{8}}, body));
    graph.nodes.push_back(node);
    graph.outputs.push_back(node.result);
  }
  Link(graph);
  return graph;
}

TEST_CASE("equal definitions have equal numbers, however their terms are shared") {
  // Trees of 2^9 nodes, which are hashed as trees, and of 2^16, which are not.
  for (const int depth : {8, 15}) {
    const Graph graph =
        MapsOf({Squares(depth, true), Squares(depth, false), Squares(depth + 1, true)});
    CHECK(DefinitionNumbers(graph) == std::vector<int>{0, 0, 1});
    const std::vector<uint64_t> hashes = SurroundingHashes(graph, 0);
    CHECK(hashes[4] == hashes[5]);
    CHECK(hashes[4] != hashes[6]);
  }
  const Graph graph = MapsOf({Squares(60, true), Squares(60, true), Squares(59, true)});
  CHECK(DefinitionNumbers(graph) == std::vector<int>{0, 0, 1});
  CHECK(CanonicalOrder(graph).size() == 7);
}

TEST_CASE("slices at other offsets are alike in their surroundings, but are not equal") {
  const Graph graph = MapsOf({Read(0, {i}), Read(0, {i + ConstantAffine(1)}), Read(0, {i * 2})});
  CHECK(DefinitionNumbers(graph) == std::vector<int>{0, 1, 2});
  const std::vector<uint64_t> hashes = SurroundingHashes(graph, 0);
  CHECK(hashes[4] == hashes[5]);
  CHECK(hashes[4] != hashes[6]);
}

TEST_CASE("no accumulator takes a term that is used twice") {
  // z is a sum, and so it could be partials; the map reads it twice.
  const ExprPtr z = Read(0, {i});
  ExprPtr twice = Call(Function::kAdd, {z, z});
  for (int n = 0; n < 60; ++n) twice = Call(Function::kAdd, {twice, twice});
  Graph graph = MapsOf({Read(0, {i}), twice});
  Definition sum = Define({8, 6}, 1, Reducer::kSum, {{8}}, Read(0, {i}));
  graph.nodes[0].definition = std::make_shared<const Definition>(sum);
  graph.nodes[1].operands = {1};
  graph.outputs = {2};
  Link(graph);
  CHECK_FALSE(HasAccumulators(WithAccumulators(graph, MeshOf(2))));
}

}  // namespace
}  // namespace yuba::search
