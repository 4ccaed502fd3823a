// The search on graphs of two entries against an enumeration of all plans, priced by marking
// elements one by one: what each entry moves counts as often as it runs, and stored tensors have
// one sharding in all.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <random>
#include <vector>

#include "search/search.h"
#include "tests/support/against_enumeration.h"
#include "tests/support/graphs.h"
#include "tests/support/marking.h"
#include "tests/support/part.h"
#include "tests/support/random_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// The graph with its nodes from `first` on in an entry of their own. What they read of the others
// becomes an input.
Graph SplitAt(const Graph& graph, NodeId first, int64_t times) {
  Graph split = graph;
  split.entries = {{"before", 1}, {"after", times}};
  std::map<TensorId, TensorId> inputs;  // what crosses
  for (size_t n = 0; n < split.nodes.size(); ++n) {
    Node& node = split.nodes[n];
    node.entry = static_cast<NodeId>(n) < first ? 0 : 1;
    if (node.entry == 0) continue;
    for (TensorId& operand : node.operands) {
      const Tensor& tensor = graph.tensors[operand];
      if (IsStored(tensor.kind) || tensor.producer >= first) continue;
      const auto [place, is_new] =
          inputs.emplace(operand, static_cast<TensorId>(split.tensors.size()));
      if (is_new) {
        Tensor input = tensor;
        input.name += "/given";
        input.kind = TensorKind::kInput;
        input.output = false;
        split.tensors.push_back(input);
        split.inputs.push_back(place->second);
        if (!tensor.output) split.outputs.push_back(operand);
      }
      operand = place->second;
    }
  }
  Link(split);
  return split;
}

// Lets a node of each entry write one stored tensor of its result's type: whether two can. Both
// must be the last of their entries to read it, so that the order stands.
bool CarryInBoth(Graph& graph, std::mt19937& random) {
  std::vector<std::vector<NodeId>> pairs;
  std::vector<TensorId> states;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& state = graph.tensors[t];
    if (!IsStored(state.kind) || state.kind == TensorKind::kConstant) continue;
    std::vector<std::vector<NodeId>> writers(2);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      const auto id = static_cast<NodeId>(n);
      const bool last = std::none_of(state.consumers.begin(), state.consumers.end(), [&](NodeId r) {
        return r > id && graph.nodes[r].entry == node.entry;
      });
      if (last && graph.tensors[node.result].consumers.empty() &&
          graph.tensors[node.result].type == state.type) {
        writers[node.entry].push_back(id);
      }
    }
    for (const NodeId a : writers[0]) {
      for (const NodeId b : writers[1]) {
        pairs.push_back({a, b});
        states.push_back(static_cast<TensorId>(t));
      }
    }
  }
  if (pairs.empty()) return false;
  const size_t chosen = random() % pairs.size();
  Tensor& state = graph.tensors[states[chosen]];
  if (state.kind == TensorKind::kInput) {
    state.kind = TensorKind::kState;
    graph.inputs.erase(std::remove(graph.inputs.begin(), graph.inputs.end(), states[chosen]),
                       graph.inputs.end());
  }
  for (const NodeId writer : pairs[chosen]) {
    const TensorId result = graph.nodes[writer].result;
    graph.nodes[writer].result = states[chosen];
    graph.outputs.erase(std::remove(graph.outputs.begin(), graph.outputs.end(), result),
                        graph.outputs.end());
    // A scalar that nothing computes is stored; it moves nothing.
    graph.tensors[result].kind = TensorKind::kConstant;
    graph.tensors[result].type.dims.clear();
    graph.tensors[result].dims.clear();
  }
  graph.outputs.push_back(states[chosen]);
  Link(graph);
  CheckGraph(graph);
  return true;
}

struct Tally {
  int compared = 0, proven = 0, carried = 0;
  int weighed = 0;  // graphs whose cheapest plan depends on how often the second entry runs
};

void CompareOne(const Graph& bare, const TriedSpace& space, int devices, Tally& tally) {
  const auto compared = CompareWithAllPlans(bare, space, OptionsFor(space, devices));
  if (!compared.has_value()) return;
  ++tally.compared;
  tally.proven += compared->IsProven();
  Graph once = compared->graph;
  once.entries[1].times = 1;
  const absl::StatusOr<Plan> plan = Search(once, compared->options);
  REQUIRE_THAT(plan, IsOk());
  tally.weighed += MarkedBytes(compared->graph, compared->options.mesh, ShardingsOf(plan->tensors),
                               ShardingsOf(plan->nodes)) > compared->least;
  if (tally.compared % 10 == 1 && !space.replicate) CompareGrids(*compared);
}

void CompareRandom(const TriedSpace& space) {
  Tally tally;
  for (int devices : {2, 3, 4, 6}) {
    RandomGraphs graphs(devices, devices);
    std::mt19937 random(devices);
    for (int i = 0; i < Part(150); ++i) {
      CAPTURE(devices, i);
      const Graph whole = graphs.Next();
      const auto nodes = static_cast<uint32_t>(whole.nodes.size());
      if (nodes < 2) continue;
      Graph graph = SplitAt(whole, static_cast<NodeId>(1 + random() % (nodes - 1)),
                            static_cast<int64_t>(2 + random() % 20));
      tally.carried += CarryInBoth(graph, random);
      CompareOne(graph, space, devices, tally);
    }
  }
  std::cout << tally.compared << " random graphs of two entries, gap 0 on " << tally.proven
            << ", with a state that both write " << tally.carried
            << ", whose best plan depends on the weights " << tally.weighed << "\n";
  CHECK(tally.compared >= Part(300));
  CHECK(tally.proven >= 0.95 * tally.compared);
  CHECK(tally.carried >= Part(20));
  CHECK(tally.weighed >= 1);  // few with replicas, where the best plan often moves nothing
}

TEST_CASE("graphs of two entries against enumeration") { CompareRandom(TriedSpace()); }

TEST_CASE("graphs of two entries with copies against enumeration") {
  TriedSpace space;
  space.copies = true;
  CompareRandom(space);
}

TEST_CASE("graphs of two entries with replicas against enumeration") {
  TriedSpace space;
  space.replicate = true;
  CompareRandom(space);
}

}  // namespace
}  // namespace yuba::search
