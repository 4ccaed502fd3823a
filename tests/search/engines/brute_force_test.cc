// The search against an enumeration of all plans, priced by marking elements one by one.

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <random>

#include "search/search.h"
#include "tests/support/against_enumeration.h"
#include "tests/support/graphs.h"
#include "tests/support/marking.h"
#include "tests/support/part.h"
#include "tests/support/random_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// The results of comparing many graphs.
struct Tally {
  int compared = 0;  // graphs that were small enough to try all plans
  int proven = 0;    // graphs whose plan's bound is its cost
  int recursion_lost = 0;
  int reshaped = 0;  // graphs in which dimensions are split into factors, or joined
  double plans = 0;  // plans tried
};

bool HasReshape(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return node.definition->reducer == Reducer::kPick; });
}

void Compare(const Graph& bare, const TriedSpace& space, int devices, int64_t limit, Tally& tally) {
  CAPTURE(devices);
  const auto compared = CompareWithAllPlans(bare, space, OptionsFor(space, devices), limit);
  if (!compared.has_value()) return;
  ++tally.compared;
  tally.reshaped += HasReshape(compared->graph);
  tally.plans += compared->plans;
  tally.proven += compared->IsProven();
  if (space.replicate) return;  // the others replicate nothing
  const Graph& graph = compared->graph;
  SearchOptions options = compared->options;
  if (tally.compared % 10 == 1) CompareGrids(*compared);
  options.search = "recursive";
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->cost.bytes() >= compared->least);
  CHECK(MarkedBytes(graph, options.mesh, ShardingsOf(plan->tensors), ShardingsOf(plan->nodes)) ==
        plan->cost.bytes());
  tally.recursion_lost += plan->cost.bytes() > compared->least;
}

void CompareOne(const Graph& graph, int devices, int64_t limit) {
  Tally tally;
  Compare(graph, TriedSpace(), devices, limit, tally);
  CHECK(tally.compared == 1);
  CHECK(tally.proven == 1);
}

TEST_CASE("chains of products against enumeration") {
  CompareOne(MatmulChain({5, 9}, 7), 2, 1000);
  CompareOne(MatmulChain({5, 9}, 7), 8, 1000);
  CompareOne(MatmulChain({4, 8, 6}, 8), 2, 1000);
  CompareOne(MatmulChain({6, 7, 5}, 4), 4, 1000);
  CompareOne(MatmulChain({6, 4, 9}, 7), 6, 1000);
  CompareOne(MatmulChain({8, 12, 8}, 8), 8, 10000);
  CompareOne(MatmulChain({3, 8, 4, 6}, 8), 2, 10000);
  CompareOne(MatmulChain({7, 4, 6, 5}, 6), 4, 10000);
  CompareOne(MatmulChain({6, 6, 6, 6}, 6), 6, 10000);
  CompareOne(MatmulChain({4, 8, 8, 4}, 8), 8, 1000000);
}

// Square matrices, products and sums of any two of them: cycles, round which axes must agree.
Graph GraphOfCycles(std::mt19937* random, int nodes) {
  const auto below = [&](size_t limit) { return (*random)() % limit; };
  GraphBuilder builder;
  const int64_t extent = 4 + static_cast<int64_t>(below(5));
  std::vector<TensorId> tensors = {builder.Input({extent, extent}, ElementType::kF32),
                                   builder.Parameter({extent, extent}, ElementType::kF32)};
  for (int node = 0; node < nodes; ++node) {
    const TensorId x = tensors.back(), y = tensors[below(tensors.size())];
    switch (below(4)) {
      case 0: tensors.push_back(builder.Add(x, y)); break;
      case 1: tensors.push_back(builder.Transpose(x)); break;
      default: tensors.push_back(below(2) == 0 ? builder.Matmul(x, y) : builder.Matmul(y, x));
    }
  }
  return builder.Finish({tensors.back()});
}

void CompareRandom(const TriedSpace& space, int64_t limit) {
  Tally tally;
  for (int devices : {2, 3, 4, 6, 8}) {
    RandomGraphs graphs(devices, devices);
    for (int i = 0; i < Part(250); ++i) {
      CAPTURE(i);
      Compare(graphs.Next(), space, devices, limit, tally);
    }
  }
  std::cout << tally.compared << " random graphs, " << tally.reshaped << " of them with re-views, "
            << tally.plans << " plans tried; gap 0 on " << tally.proven
            << ", the recursion lost on " << tally.recursion_lost << "\n";
  CHECK(tally.compared >= Part(1000));
  CHECK(tally.reshaped >= Part(100));
  CHECK(tally.proven >= 0.95 * tally.compared);
  if (space.replicate) return;
  CHECK(tally.recursion_lost > 0);
}

TEST_CASE("random graphs against enumeration") { CompareRandom(TriedSpace(), 100000); }

TEST_CASE("random graphs with copies against enumeration") {
  TriedSpace space;
  space.copies = true;
  CompareRandom(space, 20000);
}

TEST_CASE("graphs of cycles against enumeration") {
  Tally tally;
  std::mt19937 random(1);
  for (int devices : {4, 6, 8}) {
    for (int i = 0; i < Part(150); ++i) {
      CAPTURE(i);
      Compare(GraphOfCycles(&random, devices == 4 ? 5 : 4), TriedSpace(), devices, 300000, tally);
    }
  }
  std::cout << tally.compared << " graphs of cycles; gap 0 on " << tally.proven
            << ", the recursion lost on " << tally.recursion_lost << "\n";
  CHECK(tally.compared >= Part(200));
  CHECK(tally.proven >= 0.95 * tally.compared);
}

TEST_CASE("random graphs with replicas against enumeration") {
  TriedSpace space;
  space.replicate = true;
  CompareRandom(space, 20000);
}

TEST_CASE("a convolution and its pooling against enumeration") {
  GraphBuilder builder;
  TensorId x = builder.Input({2, 3, 5, 4});
  TensorId y = builder.Conv(x, builder.Parameter({2, 3, 3, 2}), 2, 1);
  Graph graph = builder.Finish({builder.MaxPool(y, 2, 1)});
  CompareOne(graph, 2, 10000);
  CompareOne(graph, 3, 10000);
}

}  // namespace
}  // namespace yuba::search
