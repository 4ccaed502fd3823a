// Kernels that may stand beside each other are brought together: fewer are left, the order stays
// one in which they can run, and no more bytes are live.
#include "compiler/order/gather.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "compiler/order/live_bytes.h"
#include "tests/compiler/order/random_graphs.h"

namespace yuba::compiler {
namespace {

std::vector<NodeId> AsStanding(const Graph& graph) {
  std::vector<NodeId> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Each node is a kernel; `of_elements` says which may stand beside others.
std::vector<KernelNodes> Alone(const std::vector<bool>& of_elements) {
  std::vector<KernelNodes> kernels;
  for (size_t n = 0; n < of_elements.size(); ++n) {
    const auto node = static_cast<NodeId>(n);
    kernels.push_back({node, node + 1, of_elements[n] ? 1 : 0});
  }
  return kernels;
}

// Whether `later` must run after `earlier`.
bool Follows(const Graph& graph, const std::vector<Precedence>& edges, NodeId earlier,
             NodeId later) {
  const std::vector<TensorId>& operands = graph.nodes[later].operands;
  return std::count(operands.begin(), operands.end(), graph.nodes[earlier].result) > 0 ||
         std::any_of(edges.begin(), edges.end(), [&](const Precedence& edge) {
           return edge.before == earlier && edge.after == later;
         });
}

// How many kernels the order makes where those next to each other become one if none must run after
// another.
int KernelsOf(const Graph& graph, const std::vector<Precedence>& edges,
              const std::vector<bool>& of_elements, const std::vector<NodeId>& order) {
  int kernels = 0;
  std::vector<NodeId> beside;
  for (const NodeId node : order) {
    const bool joins = of_elements[node] && !beside.empty() && of_elements[beside[0]] &&
                       std::none_of(beside.begin(), beside.end(), [&](NodeId other) {
                         return Follows(graph, edges, other, node);
                       });
    if (!joins) beside.clear();
    kernels += beside.empty();
    beside.push_back(node);
  }
  return kernels;
}

void CheckCanRun(const Graph& graph, const std::vector<Precedence>& edges,
                 const std::vector<NodeId>& order) {
  std::vector<NodeId> place(order.size(), -1);
  for (size_t at = 0; at < order.size(); ++at) place[order[at]] = static_cast<NodeId>(at);
  REQUIRE(std::count(place.begin(), place.end(), -1) == 0);
  for (NodeId a = 0; a < static_cast<NodeId>(order.size()); ++a) {
    for (NodeId b = 0; b < static_cast<NodeId>(order.size()); ++b) {
      if (Follows(graph, edges, a, b)) CHECK(place[a] < place[b]);
    }
  }
}

TEST_CASE(
    "random graphs have fewer kernels, in an order in which they can run, with no more bytes") {
  int before = 0, after = 0;
  for (int seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Graph graph = RandomGraph(6 + seed % 30, 3 + seed % 9, random);
    const std::vector<Precedence> edges =
        seed % 3 == 0 ? RandomPrecedences(graph, 4, random) : std::vector<Precedence>();
    const std::vector<NodeId> standing = AsStanding(graph);
    const bool stands = std::all_of(edges.begin(), edges.end(), [](const Precedence& edge) {
      return edge.before < edge.after;
    });
    if (!stands) continue;
    std::vector<bool> of_elements;
    for (size_t n = 0; n < graph.nodes.size(); ++n) of_elements.push_back(random() % 2 == 0);
    const std::vector<NodeId> order = Gathered(graph, edges, Alone(of_elements));
    CheckCanRun(graph, edges, order);
    CHECK(PeakOfLiveBytes(graph, order) <= PeakOfLiveBytes(graph, standing));
    before += KernelsOf(graph, edges, of_elements, standing);
    after += KernelsOf(graph, edges, of_elements, order);
  }
  CHECK(after < before * 9 / 10);
}

// Of so many layers: backward, then the gradient and the update of a weight, of `bytes` each. The
// backward nodes and gradients are products.
struct Updates {
  Updates(int layers, int64_t bytes) {
    GraphOfBytes build;
    TensorId back = build.Add(4 * bytes, {0});
    of_elements = {false};
    for (int layer = 0; layer < layers; ++layer) {
      const TensorId gradient = build.Add(bytes, {back});
      build.Output(build.Add(bytes, {gradient}));
      of_elements.insert(of_elements.end(), {false, true});
      // At the first one nothing may wait, later there is room.
      back = build.Add(layer == 0 ? 4 * bytes : 4, {back});
      of_elements.push_back(false);
    }
    graph = build.Finish();
  }
  Graph graph;
  std::vector<bool> of_elements;
};

TEST_CASE("updates wait for each other while there is room") {
  const Updates updates(4, 8);
  const std::vector<NodeId> order = Gathered(updates.graph, {}, Alone(updates.of_elements));
  CHECK(KernelsOf(updates.graph, {}, updates.of_elements, AsStanding(updates.graph)) == 13);
  CHECK(KernelsOf(updates.graph, {}, updates.of_elements, order) == 11);
  CHECK(PeakOfLiveBytes(updates.graph, order) ==
        PeakOfLiveBytes(updates.graph, AsStanding(updates.graph)));
}

TEST_CASE("what would keep more bytes live than before stays") {
  GraphOfBytes build;
  const TensorId x = build.Add(4, {0});
  const TensorId gradient = build.Add(100, {x});
  build.Output(build.Add(100, {gradient}));
  const TensorId next = build.Add(100, {x});  // 104 bytes are live here, and were before
  build.Output(build.Add(100, {next}));
  const Graph graph = build.Finish();
  const std::vector<bool> of_elements = {false, false, true, false, true};
  CHECK(Gathered(graph, {}, Alone(of_elements)) == AsStanding(graph));
}

TEST_CASE("nodes of one kernel stay together") {
  GraphOfBytes build;
  const TensorId a = build.Add(4, {build.Add(100, {0})}), b = build.Add(4, {0});
  const TensorId c = build.Add(4, {b});  // one kernel with b
  const TensorId product = build.Add(4, {a}), d = build.Add(4, {0});
  build.Add(4, {c, d, product});
  const Graph graph = build.Finish();
  const std::vector<KernelNodes> kernels = {{0, 1, 0}, {1, 2, 1}, {2, 4, 1},
                                            {4, 5, 0}, {5, 6, 1}, {6, 7, 0}};
  CHECK(Gathered(graph, {}, kernels) == std::vector<NodeId>{0, 1, 2, 3, 5, 4, 6});
}

// w' = w - 1 lies where w does, and so does a copy of w that is sharded like it.
TEST_CASE("what reads a copy of a carried tensor stays before its next value") {
  const TensorType type = {ElementType::kF32, {4}};
  Graph graph;
  const auto tensor = [&](const char* name, TensorKind kind) {
    Tensor added;
    added.name = name;
    added.kind = kind;
    added.type = type;
    added.dims = {{4}};
    graph.tensors.push_back(added);
    return static_cast<TensorId>(graph.tensors.size() - 1);
  };
  const auto node = [&](const char* name, TensorId operand, TensorId result) {
    Node added;
    added.name = name;
    added.definition = std::make_shared<const Definition>(IdentityOf(type, name));
    added.operands = {operand};
    added.result = result;
    graph.nodes.push_back(added);
    return static_cast<NodeId>(graph.nodes.size() - 1);
  };
  const TensorId w = tensor("w", TensorKind::kParameter), y = tensor("y", TensorKind::kActivation);
  const TensorId copy = tensor("copy(w)", TensorKind::kCopy);
  const NodeId copies = node("copy(w)", w, copy), reader = node("y", copy, y);
  const NodeId writer = node("w'", w, w);
  graph.outputs = {y, w};
  tensor("copy(y)", TensorKind::kCopy);  // that is not made
  Link(graph);
  std::set<std::pair<NodeId, NodeId>> edges;
  for (const Precedence& edge : ReadersBeforeWriters(graph))
    edges.insert({edge.before, edge.after});
  CHECK(edges.count({copies, writer}) == 1);
  CHECK(edges.count({reader, writer}) == 1);
}

}  // namespace
}  // namespace yuba::compiler
