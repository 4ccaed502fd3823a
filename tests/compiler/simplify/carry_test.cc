// CarryStates: several steps of a carried graph are several steps of the graph before, with next
// values handed over by hand; and where its nodes stand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compiler/simplify/simplify.h"
#include "tests/compiler/support/carried_graphs.h"

namespace yuba::compiler {
namespace {

constexpr int kSteps = 4;

bool IsCarry(const Node& node) { return node.op == "carry"; }

int Copies(const Graph& graph) {
  return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(), IsCarry));
}

NodeId NodeNamed(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                  [&](const Node& node) { return node.name == name; });
  REQUIRE(found != graph.nodes.end());
  return static_cast<NodeId>(found - graph.nodes.begin());
}

const Tensor& TensorNamed(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  REQUIRE(found != graph.tensors.end());
  return *found;
}

// Runs both, and compares the outputs of each step.
void CompareSteps(const CarriedModel& carried, Random& random) {
  std::vector<TensorValue> values = RandomValues(carried.before.graph, Arithmetic::kHash, random);
  const auto expected = StepsByHand(carried, values, kSteps);
  values = ValuesOfModel(carried, values);
  for (int step = 0; step < kSteps; ++step) {
    CAPTURE(step);
    InterpretGraph(carried.model.graph, Arithmetic::kHash, values);
    std::vector<TensorValue> outputs;
    for (const TensorId output : carried.model.graph.outputs) outputs.push_back(values[output]);
    CHECK(SameElements(outputs, expected[step]));
  }
}

// Whether a node that reads `pair.state` needs the value of `pair.next`: then no order will do.
bool NeedsBoth(const Graph& graph, const CarriedPair& pair) {
  std::vector<bool> follows(graph.tensors.size(), false);
  follows[pair.next] = true;
  for (const Node& node : graph.nodes) {
    const bool after = std::any_of(node.operands.begin(), node.operands.end(),
                                   [&](TensorId operand) { return follows[operand]; });
    if (!after) continue;
    if (std::count(node.operands.begin(), node.operands.end(), pair.state) > 0) return true;
    follows[node.result] = true;
  }
  return false;
}

TEST_CASE("steps of random carried graphs equal steps with values handed over") {
  int copies = 0, in_place = 0, pairs = 0;
  for (int seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const CarriedModel carried = RandomCarried(random);
    CompareSteps(carried, random);
    const int copied = Copies(carried.model.graph);
    copies += copied;
    in_place += static_cast<int>(carried.pairs.size()) - copied;
    pairs += carried.pairs.size() > 1;
  }
  CHECK(copies > 50);
  CHECK(in_place > 200);
  CHECK(pairs > 50);
}

TEST_CASE("who read a state reads its value before the step, who read the next value that") {
  for (int seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const CarriedModel carried = RandomCarried(random);
    const Graph &before = carried.before.graph, &after = carried.model.graph;
    for (const CarriedPair& pair : carried.pairs) {
      const Tensor& state = TensorNamed(after, before.tensors[pair.state].name);
      CHECK(IsCarried(state));
      const auto id = static_cast<TensorId>(&state - after.tensors.data());
      CHECK(state.next_name == before.tensors[pair.next].name);
      CHECK(OutputName(state) == before.tensors[pair.next].name);
      for (const NodeId reader : before.tensors[pair.state].consumers)
        CHECK(ProducerFor(after, id, NodeNamed(after, before.nodes[reader].name)) == -1);
      if (IsCarry(after.nodes[state.producer])) continue;
      for (const NodeId reader : before.tensors[pair.next].consumers) {
        CHECK(ProducerFor(after, id, NodeNamed(after, before.nodes[reader].name)) ==
              state.producer);
      }
    }
  }
}

TEST_CASE("a pair gets a copy exactly where a node needs both values") {
  int needed = 0, alone = 0;
  for (int seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const CarriedModel carried = RandomCarried(random);
    if (carried.pairs.size() != 1) continue;
    ++alone;
    const bool needs = NeedsBoth(carried.before.graph, carried.pairs[0]);
    needed += needs;
    CHECK(Copies(carried.model.graph) == (needs ? 1 : 0));
  }
  CHECK(needed > 10);
  CHECK(alone - needed > 10);
}

TEST_CASE("nodes that no state concerns stay in their order") {
  ModelBuilder build;
  const TensorId a = build.Input({4, 4}), x = build.Input({4, 4});
  const TensorId next = build.Add(a, x);
  const TensorId p = build.Relu(x), q = build.Add(p, x);
  const TensorId late = build.Reduce(a, Reducer::kSum);  // must come before `next`
  const CarriedModel carried = Carried(build.Finish({next, q, late}), {{a, next}});
  std::vector<std::string> names;
  for (const Node& node : carried.model.graph.nodes) names.push_back(node.name);
  const auto name = [&](TensorId id) { return carried.before.graph.tensors[id].name; };
  CHECK(names == std::vector<std::string>{name(p), name(q), name(late), name(next)});
}

TEST_CASE("of two states that become what the other was, one is copied") {
  ModelBuilder build;
  const TensorId a = build.Input({3, 4}), b = build.Input({3, 4}), x = build.Input({3, 4});
  const TensorId a_next = build.Add(b, x), b_next = build.Subtract(a, x);
  const CarriedModel carried = Carried(build.Finish({a_next, b_next}), {{a, a_next}, {b, b_next}});
  CHECK(Copies(carried.model.graph) == 1);
  CHECK(carried.model.graph.outputs.size() == 2);
  Random random(1);
  CompareSteps(carried, random);
}

TEST_CASE("the graph is the same whatever the order of the pairs") {
  for (int seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const CarriedModel carried = RandomCarried(random);
    std::vector<CarriedPair> pairs = carried.pairs;
    std::reverse(pairs.begin(), pairs.end());
    Model model = carried.before;
    CarryStates(model, pairs);
    CHECK(HashOfGraph(model.graph) == HashOfGraph(carried.model.graph));
    CHECK(HashOfGraph(model.graph) != HashOfGraph(carried.before.graph));
  }
}

TEST_CASE("a next value that also needs a copy is an output no more") {
  ModelBuilder build;
  const TensorId a = build.Input({3, 4}), x = build.Input({3, 4});
  const TensorId next = build.Add(a, x), difference = build.Subtract(next, a);
  const CarriedModel carried = Carried(build.Finish({next, difference}), {{a, next}});
  const Graph& graph = carried.model.graph;
  CHECK(Copies(graph) == 1);
  CHECK(IsCarry(graph.nodes.back()));
  const std::string& name = carried.before.graph.tensors[next].name;
  CHECK_FALSE(TensorNamed(graph, name).output);
  CHECK(OutputName(graph.tensors[graph.outputs[0]]) == name);
}

}  // namespace
}  // namespace yuba::compiler
