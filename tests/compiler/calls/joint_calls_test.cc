// Which nodes of a graph may be one call with a product, and what is stored for that.
#include "compiler/calls/joint_calls.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/calls/stored_arguments.h"
#include "opsemantics/definition/shared_terms.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::compiler {
namespace {

using Dims = std::vector<int64_t>;

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3);

ExprPtr operator+(ExprPtr a, ExprPtr b) { return Call(Function::kAdd, {a, b}); }
ExprPtr operator*(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {a, b}); }
ExprPtr Gelu(const ExprPtr& x) {
  const ExprPtr cube = Call(Function::kPow, {x, Number(3)});
  return x * Number(0.5) *
         (Call(Function::kTanh, {(x + cube * Number(0.044715)) * Number(0.7978845608028654)}) +
          Number(1));
}

// Stored tensors and nodes, by names; Finish links the graph.
class GraphBuilder {
 public:
  TensorId Stored(const std::string& name, Dims dims) {
    return AddTensor(name, TensorKind::kParameter, {ElementType::kF32, std::move(dims)});
  }
  TensorId AddNode(const std::string& name, Definition definition, std::vector<TensorId> operands) {
    ShareTerms(definition);
    Node node;
    node.name = name;
    node.operands = std::move(operands);
    node.result = AddTensor(name, TensorKind::kActivation, definition.result);
    node.definition = std::make_shared<const Definition>(std::move(definition));
    graph_.nodes.push_back(node);
    return node.result;
  }
  // What nothing reads is an output.
  Graph Finish() {
    Link(graph_);
    for (size_t t = 0; t < graph_.tensors.size(); ++t)
      if (graph_.tensors[t].consumers.empty()) graph_.outputs.push_back(static_cast<TensorId>(t));
    Link(graph_);
    CheckGraph(graph_);
    return graph_;
  }

 private:
  TensorId AddTensor(const std::string& name, TensorKind kind, const TensorType& type) {
    Tensor tensor;
    tensor.name = name;
    tensor.kind = kind;
    tensor.type = type;
    for (const int64_t dim : type.dims) tensor.dims.push_back({dim});
    graph_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  Graph graph_;
};

bool Any(const Node&) { return true; }

// dw[k, j] = sum(s, t) x[s, t, k] * y[s, t, j], and what `sums` is of x or y.
std::vector<JointNodes> JointWith(Definition sums, bool of_x = false) {
  GraphBuilder build;
  const TensorId x = build.Stored("x", {3, 5, 4}), y = build.Stored("y", {3, 5, 6});
  build.AddNode("dw",
                Define({4, 6, 3, 5}, 2, Reducer::kSum, {{3, 5, 4}, {3, 5, 6}},
                       Read(0, {k, l, i}) * Read(1, {k, l, j})),
                {x, y});
  build.AddNode("sums", std::move(sums), {of_x ? x : y});
  return FindOperandSums(build.Finish(), Any);
}

// sum over the last two of the indices.
Definition SumsOf(int64_t extent, const ExprPtr& body) {
  return Define({extent, 3, 5}, 1, Reducer::kSum, {{3, 5, extent}}, body);
}

TEST_CASE("sums of an operand over all that the product is summed over are found") {
  for (const bool of_x : {false, true}) {
    const auto found = JointWith(SumsOf(of_x ? 4 : 6, Read(0, {j, k, i})), of_x);
    REQUIRE(found.size() == 1);
    CHECK(found[0].product == "dw");
    CHECK(found[0].other == "sums");
    CHECK(found[0].kind == program::JointCall::OPERAND_SUMS);
    CHECK(found[0].indices == std::vector<int>{of_x ? 0 : 1});
  }
}

TEST_CASE("what is nearly such sums is none") {
  const ExprPtr read = Read(0, {j, k, i});
  CHECK(JointWith(SumsOf(6, read * read)).empty());
  CHECK(JointWith(SumsOf(6, read * Number(2))).empty());
  CHECK(JointWith(SumsOf(6, Read(0, {j, k, i}, Number(0)))).empty());
  Definition largest = SumsOf(6, read);
  largest.reducer = Reducer::kMax;
  CHECK(JointWith(largest).empty());
  Definition some = SumsOf(6, read);
  some.where.push_back({IndexAffine(1) - IndexAffine(2), false});
  CHECK(JointWith(some).empty());
  Definition wide = SumsOf(6, read);
  wide.result.type = ElementType::kF64;
  CHECK(JointWith(wide).empty());
  // Over a part of what the product is summed over, and over more than that.
  CHECK(JointWith(Define({3, 6, 5}, 2, Reducer::kSum, {{3, 5, 6}}, Read(0, {i, k, j}))).empty());
  CHECK(JointWith(Define({5, 6, 3}, 2, Reducer::kSum, {{3, 5, 6}}, Read(0, {k, i, j}))).empty());
  CHECK(JointWith(Define({3, 5, 6}, 0, Reducer::kSum, {{3, 5, 6}}, Read(0, {i, j, k}))).empty());
}

TEST_CASE("a product of an operand with itself has no sums") {
  GraphBuilder build;
  const TensorId x = build.Stored("x", {5, 4});
  build.AddNode(
      "xx", Define({4, 4, 5}, 2, Reducer::kSum, {{5, 4}}, Read(0, {k, i}) * Read(0, {k, j})), {x});
  build.AddNode("sums", Define({4, 5}, 1, Reducer::kSum, {{5, 4}}, Read(0, {j, i})), {x});
  CHECK(FindOperandSums(build.Finish(), Any).empty());
}

// c = x w, g = gelu(c + b), d = dg * (b + c), and a node that reads c, where it has a body.
Graph Activated(const ExprPtr& other = nullptr) {
  GraphBuilder build;
  const TensorId x = build.Stored("x", {4, 5}), w = build.Stored("w", {5, 8});
  const TensorId b = build.Stored("b", {8}), dg = build.Stored("dg", {4, 8});
  const TensorId c = build.AddNode(
      "c", Define({4, 8, 5}, 2, Reducer::kSum, {{4, 5}, {5, 8}}, Read(0, {i, k}) * Read(1, {k, j})),
      {x, w});
  build.AddNode(
      "g", Define({4, 8}, 2, Reducer::kNone, {{4, 8}, {8}}, Gelu(Read(0, {i, j}) + Read(1, {j}))),
      {c, b});
  build.AddNode("d",
                Define({4, 8}, 2, Reducer::kNone, {{4, 8}, {4, 8}, {8}},
                       Read(0, {i, j}) * (Read(2, {j}) + Read(1, {i, j}))),
                {dg, c, b});
  if (other != nullptr)
    build.AddNode("other", Define({4, 8}, 2, Reducer::kNone, {{4, 8}, {8}}, other), {c, b});
  return build.Finish();
}

StoredArguments Stored(const Graph& graph) {
  return StoreArguments(
      graph, [](const Node&, const std::vector<PostOp>& steps) { return steps.size() == 2; },
      absl::nullopt);
}

TEST_CASE("what an activation is of is stored where its gradient begins with the same") {
  const StoredArguments stored = Stored(Activated());
  CheckGraph(stored.graph);
  REQUIRE(stored.joint.size() == 1);
  CHECK(stored.joint[0].kind == program::JointCall::ACTIVATION);
  CHECK(stored.joint[0].product == "argument(g)");
  CHECK(stored.joint[0].other == "g");
  CHECK(stored.joint[0].indices == std::vector<int>{0, 1});
  CHECK(stored.nodes == std::vector<NodeId>{0, 1, 1, 2});
  const std::vector<Node>& nodes = stored.graph.nodes;
  REQUIRE(nodes.size() == 4);
  CHECK(nodes[1].name == "argument(g)");
  const TensorId argument = nodes[1].result;
  CHECK(ToString(*nodes[1].definition) == "y[i: 4, j: 8] = x0[i, j] + x1[j]");
  CHECK(nodes[2].operands == std::vector<TensorId>{argument});
  CHECK(ToString(*nodes[3].definition) == "y[i: 4, j: 8] = x0[i, j] * x1[i, j]");
  CHECK(nodes[3].operands == std::vector<TensorId>{3, argument});
  // Only what is wanted.
  const StoredArguments none = StoreArguments(
      Activated(), [](const Node&, const std::vector<PostOp>&) { return true; },
      std::set<std::string>{"another"});
  CHECK(none.joint.empty());
  CHECK(none.graph.nodes.size() == 3);
}

TEST_CASE("nothing is stored for what another node reads of the product") {
  CHECK(Stored(Activated(Read(0, {i, j}) * Number(3))).joint.empty());
  CHECK(Stored(Activated((Read(0, {i, j}) + Read(1, {j})) * Read(0, {i, j}))).joint.empty());
  CHECK(Stored(Activated((Read(0, {i, j}) + Read(1, {j})) * Number(2))).joint.size() == 1);
}

TEST_CASE("nothing is stored where the library does not take the steps") {
  const StoredArguments stored = StoreArguments(
      Activated(), [](const Node&, const std::vector<PostOp>&) { return false; }, absl::nullopt);
  CHECK(stored.joint.empty());
  CHECK(stored.graph.nodes.size() == 3);
}

}  // namespace
}  // namespace yuba::compiler
