// Orders against the exhaustive least peak, against the depth-first order, and what is checked of
// them.
#include "compiler/order/order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "compiler/order/live_bytes.h"
#include "tests/compiler/order/random_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

// The same graph with its nodes in this order.
Graph InOrder(const Graph& graph, const std::vector<NodeId>& order) {
  Graph result = graph;
  result.nodes.clear();
  for (const NodeId node : order) result.nodes.push_back(graph.nodes[node]);
  Link(result);
  return result;
}

// The pairs, of the nodes as `order` numbers them.
std::vector<Precedence> Renumbered(const std::vector<Precedence>& edges,
                                   const std::vector<NodeId>& order) {
  std::vector<NodeId> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<NodeId>(i);
  std::vector<Precedence> result;
  for (const Precedence& edge : edges) result.push_back({place[edge.before], place[edge.after]});
  return result;
}

std::vector<std::string> NamesInOrder(const Graph& graph) {
  const NodeOrder order = LeastPeakOrder(graph).value();
  std::vector<std::string> names;
  for (const NodeId node : order.nodes) names.push_back(graph.nodes[node].name);
  return names;
}

// Whether the order keeps the edges and counts its own peaks right.
void CheckIsOrder(const Graph& graph, const std::vector<Precedence>& edges,
                  const NodeOrder& order) {
  CHECK_THAT(CheckOrder(InOrder(graph, order.nodes), Renumbered(edges, order.nodes)), IsOk());
  CHECK(order.peak == PeakOfLiveBytes(graph, order.nodes));
  CHECK(order.depth_first_peak == PeakOfLiveBytes(graph, DepthFirst(graph, edges).value()));
  CHECK(order.peak <= order.depth_first_peak);
}

TEST_CASE("the order of 1,000 random graphs of up to 16 nodes is the best of all orders") {
  int optimal = 0, better = 0;
  for (int seed = 0; seed < 1000; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const int nodes = 4 + seed % 13;
    const Graph graph = RandomGraph(nodes, 3 + seed % nodes, random);
    const NodeOrder order = LeastPeakOrder(graph).value();
    CheckIsOrder(graph, {}, order);
    const int64_t least = ExhaustivePeak(graph);
    CHECK(order.peak >= least);
    if (order.proved) CHECK(order.peak == least);
    optimal += order.peak == least;
    better += order.peak < order.depth_first_peak;
  }
  CHECK(optimal >= 950);
  CHECK(better > 200);
}

TEST_CASE("precedences are kept, at the least peak that they leave") {
  int dearer = 0;
  for (int seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const int nodes = 4 + seed % 9;
    const Graph graph = RandomGraph(nodes, 3 + seed % nodes, random);
    const std::vector<Precedence> edges = RandomPrecedences(graph, 1 + seed % 4, random);
    const NodeOrder order = LeastPeakOrder(graph, edges).value();
    CheckIsOrder(graph, edges, order);
    const int64_t least = ExhaustivePeak(graph, edges);
    CHECK(order.peak >= least);
    if (order.proved) CHECK(order.peak == least);
    dearer += least > ExhaustivePeak(graph);
  }
  CHECK(dearer > 10);  // else the edges would test nothing
}

TEST_CASE("no order of a larger graph has a higher peak than the depth-first one") {
  for (int seed = 0; seed < 12; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Graph graph = RandomGraph(30 << seed % 4, 4 + 7 * (seed % 5), random);
    const std::vector<Precedence> edges = RandomPrecedences(graph, seed % 3 * 5, random);
    CheckIsOrder(graph, edges, LeastPeakOrder(graph, edges).value());
  }
}

TEST_CASE("weights of a training step are updated as soon as their gradients can be made") {
  for (const int layers : {3, 40, 500}) {
    INFO(layers << " layers");
    const Graph graph = TrainingGraph(layers);
    const NodeOrder order = LeastPeakOrder(graph).value();
    CheckIsOrder(graph, {}, order);
    CHECK(order.proved);
    // What each layer reads backward, but for the input, and the gradient of one layer.
    CHECK(order.peak == 64 * (layers + 1));
    CHECK(order.depth_first_peak > (layers - 1) * (64 + 64));
  }
}

TEST_CASE("a depth-first order that is the best one stays") {
  GraphOfBytes build;
  const TensorId a = build.Add(40, {0});
  const TensorId b = build.Add(40, {a});
  build.Add(40, {a, b});
  const Graph graph = build.Finish();
  CHECK(LeastPeakOrder(graph).value().nodes == std::vector<NodeId>{0, 1, 2});
  int kept = 0;
  for (int seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Graph other = RandomGraph(12, 6, random);
    const NodeOrder order = LeastPeakOrder(other).value();
    if (order.peak < order.depth_first_peak) continue;
    ++kept;
    CHECK(order.nodes == DepthFirst(other, {}).value());
  }
  CHECK(kept > 20);
}

TEST_CASE("the order depends neither on names nor on the order that the nodes had") {
  for (int seed = 0; seed < 50; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Graph graph = RandomGraph(40, 12, random);
    const std::vector<std::string> names = NamesInOrder(graph);
    CHECK(NamesInOrder(Shuffled(graph, random)) == names);
    Graph renamed = graph;
    for (Node& node : renamed.nodes) node.name = "z" + std::to_string(random());
    CHECK(LeastPeakOrder(renamed).value().nodes == LeastPeakOrder(graph).value().nodes);
    const Graph ordered = InOrder(graph, LeastPeakOrder(graph).value().nodes);
    CHECK(NamesInOrder(ordered) == names);
  }
}

TEST_CASE("tensors keep their numbers when a model is ordered") {
  Model model;
  model.graph = TrainingGraph(6);
  const Graph before = model.graph;
  REQUIRE_THAT(OrderModel(model), IsOk());
  REQUIRE(model.graph.nodes.size() == before.nodes.size());
  for (size_t t = 0; t < before.tensors.size(); ++t) {
    CHECK(model.graph.tensors[t].name == before.tensors[t].name);
    if (before.tensors[t].producer < 0) continue;
    CHECK(model.graph.nodes[model.graph.tensors[t].producer].name == before.tensors[t].name);
  }
  CHECK_THAT(CheckOrder(model.graph), IsOk());
}

TEST_CASE("an order that breaks an edge, or keeps more bytes, is noticed") {
  GraphOfBytes build;
  const TensorId old_reader = build.Add(8, {0});  // reads the state x
  const TensorId next = build.Add(0, {0});        // would be written over it
  const TensorId small = build.Add(4, {0});
  const TensorId large = build.Add(80, {0});
  const TensorId of_large = build.Add(4, {large});
  build.Add(4, {small, of_large});
  build.Output(old_reader);
  build.Output(next);
  const Graph graph = build.Finish();
  const std::vector<Precedence> edges = {{0, 1}};
  CHECK_THAT(CheckOrder(InOrder(graph, {0, 1, 3, 4, 2, 5}), edges), IsOk());
  // The edge was dropped: the state's next value is written before the state is read.
  const Graph dropped = InOrder(graph, {1, 0, 3, 4, 2, 5});
  CHECK_THAT(CheckOrder(dropped, Renumbered(edges, {1, 0, 3, 4, 2, 5})),
             StatusIs(absl::StatusCode::kFailedPrecondition, "the node n1 runs before n0"));
  CHECK_THAT(CheckOrder(dropped), IsOk());
  const Graph early = InOrder(graph, {0, 1, 4, 3, 2, 5});
  CHECK_THAT(CheckOrder(early), StatusIs(absl::StatusCode::kFailedPrecondition,
                                         "the node n4 runs before n3, which it reads"));
  // y reads large first in the depth-first order of another graph, where small waits for it here.
  GraphOfBytes other;
  const TensorId big = other.Add(80, {0});
  const TensorId of_big = other.Add(4, {big});
  const TensorId little = other.Add(4, {0});
  other.Add(4, {of_big, little});
  const Graph waits = InOrder(other.Finish(), {2, 0, 1, 3});
  CHECK_THAT(CheckOrder(waits), StatusIs(absl::StatusCode::kFailedPrecondition,
                                         "88 bytes are live at once, 84 in the depth-first order"));
}

TEST_CASE("precedences that no order keeps are refused") {
  GraphOfBytes build;
  build.Add(8, {build.Add(8, {0})});
  CHECK_THAT(LeastPeakOrder(build.Finish(), {{1, 0}}),
             StatusIs(absl::StatusCode::kInvalidArgument, "before a node that it needs"));
}

}  // namespace
}  // namespace yuba::compiler
