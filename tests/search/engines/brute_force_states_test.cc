// The search on graphs with states against an enumeration of all plans, priced by marking elements
// one by one: a state and its next value have one sharding.
#include <catch2/catch.hpp>
#include <iostream>
#include <random>
#include <vector>

#include "compiler/simplify/simplify.h"
#include "search/rewrite/copies.h"
#include "tests/support/against_enumeration.h"
#include "tests/support/enumeration.h"
#include "tests/support/graphs.h"
#include "tests/support/part.h"
#include "tests/support/random_graphs.h"

namespace yuba::search {
namespace {

// Ties one result of a node, picked at random, to a stored tensor of its type; whether there are
// such.
bool CarryOne(Graph& graph, std::mt19937& random) {
  std::vector<compiler::CarriedPair> pairs;
  for (size_t s = 0; s < graph.tensors.size(); ++s) {
    for (size_t t = 0; t < graph.tensors.size(); ++t) {
      const Tensor &state = graph.tensors[s], &next = graph.tensors[t];
      if (IsStored(state.kind) && next.producer >= 0 && state.type == next.type)
        pairs.push_back({static_cast<TensorId>(s), static_cast<TensorId>(t)});
    }
  }
  if (pairs.empty()) return false;
  const compiler::CarriedPair pair = pairs[random() % pairs.size()];
  if (!graph.tensors[pair.next].output) graph.outputs.push_back(pair.next);
  if (graph.tensors[pair.state].kind == TensorKind::kInput) {
    graph.tensors[pair.state].kind = TensorKind::kState;
    for (size_t i = graph.inputs.size(); i-- > 0;) {
      if (graph.inputs[i] == pair.state) graph.inputs.erase(graph.inputs.begin() + i);
    }
  }
  Link(graph);
  compiler::Model model;
  model.graph = std::move(graph);
  compiler::CarryStates(model, {pair});
  graph = std::move(model.graph);
  return true;
}

struct Tally {
  int compared = 0, proven = 0;
  int copied = 0;  // graphs that have a copy of one value of their state, or of both
  int dearer = 0;  // graphs that could move less if both values had shardings of their own
  double plans = 0;
};

bool CopiesState(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (IsCopy(graph, node) && IsCarried(graph.tensors[node.operands[0]])) return true;
  }
  return false;
}

// `apart`: the same graph before its state was carried.
void Compare(const Graph& apart, const Graph& bare, const TriedSpace& space, int devices,
             Tally& tally) {
  const auto compared = CompareWithAllPlans(bare, space, OptionsFor(space, devices));
  if (!compared.has_value()) return;
  ++tally.compared;
  tally.proven += compared->IsProven();
  tally.copied += CopiesState(compared->graph);
  tally.plans += compared->plans;
  const TriedPlans free = TryAllPlans(apart, compared->options.mesh, space, 20000);
  tally.dearer += free.least >= 0 && free.least < compared->least;
  if (tally.compared % 10 == 1 && !space.replicate) CompareGrids(*compared);
}

Tally CompareRandom(const TriedSpace& space) {
  Tally tally;
  for (int devices : {2, 3, 4, 6}) {
    RandomGraphs graphs(devices, devices);
    std::mt19937 random(devices);
    for (int i = 0; i < Part(250); ++i) {
      CAPTURE(devices, i);
      const Graph apart = graphs.Next();
      Graph graph = apart;
      if (CarryOne(graph, random)) Compare(apart, graph, space, devices, tally);
    }
  }
  std::cout << tally.compared << " random graphs with a state, " << tally.plans
            << " plans tried; gap 0 on " << tally.proven << ", copies of states in " << tally.copied
            << ", dearer than two tensors " << tally.dearer << "\n";
  CHECK(tally.compared >= Part(300));
  CHECK(tally.proven >= 0.95 * tally.compared);
  CHECK(tally.dearer > 0);
  return tally;
}

TEST_CASE("graphs with states against enumeration") { CompareRandom(TriedSpace()); }

TEST_CASE("graphs with states and copies of either value against enumeration") {
  TriedSpace space;
  space.copies = true;
  CHECK(CompareRandom(space).copied > 50);
}

TEST_CASE("graphs with states and replicas against enumeration") {
  TriedSpace space;
  space.replicate = true;
  CompareRandom(space);
}

}  // namespace
}  // namespace yuba::search
