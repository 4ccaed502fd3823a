// Which readers share a copy, and what is planned with copies.

#include "search/rewrite/copies.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "search/check/check.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

Plan PlanOf(const Graph& graph, int devices) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  return *plan;
}

// Three products of one input, then a chain of products, at whose end the input is read once more.
Graph Attention(int64_t rows, int64_t width, int chain) {
  GraphBuilder builder;
  TensorId x = builder.Input({rows, width});
  TensorId q = builder.Matmul(x, builder.Parameter({width, width}));
  TensorId k = builder.Matmul(x, builder.Parameter({width, width}));
  TensorId v = builder.Matmul(x, builder.Parameter({width, width}));
  TensorId y = builder.Add(builder.Add(q, k), v);
  for (int i = 0; i < chain; ++i) y = builder.Matmul(y, builder.Parameter({width, width}));
  return builder.Finish({builder.Add(y, x)});
}

// The tensors that have copies, in the order of the copies' nodes, with the number of readers.
std::vector<std::pair<TensorId, size_t>> CopiesOf(const Graph& graph) {
  std::vector<std::pair<TensorId, size_t>> copies;
  for (const Node& node : graph.nodes) {
    if (!IsCopy(graph, node)) continue;
    copies.push_back({node.operands[0], graph.tensors[node.result].consumers.size()});
    const Tensor& copy = graph.tensors[node.result];
    for (NodeId n = copy.producer; n < copy.consumers.front(); ++n) {
      CHECK(IsCopy(graph, graph.nodes[n]));  // a copy stands before the first of its readers
    }
  }
  return copies;
}

TEST_CASE("all readers of a tensor share a copy, however far they are from each other") {
  const Graph graph = Attention(8, 16, 6);
  using Copies = std::vector<std::pair<TensorId, size_t>>;
  const Graph copied = WithCopies(graph);
  CHECK(CopiesOf(copied) == Copies{{0, 4}});
  CHECK(copied.copies);
  CHECK(copied.nodes.size() == graph.nodes.size() + 1);
  CHECK(SourceOf(copied, static_cast<TensorId>(graph.tensors.size())) == 0);
}

// The same nodes in another order in which each still comes after those that it reads.
Graph Shuffled(const Graph& graph, std::mt19937& random) {
  Graph shuffled = graph;
  shuffled.nodes.clear();
  std::vector<bool> placed(graph.nodes.size(), false);
  while (shuffled.nodes.size() < graph.nodes.size()) {
    std::vector<size_t> ready;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const std::vector<TensorId>& operands = graph.nodes[n].operands;
      if (!placed[n] && std::all_of(operands.begin(), operands.end(), [&](TensorId operand) {
            return graph.tensors[operand].producer < 0 || placed[graph.tensors[operand].producer];
          })) {
        ready.push_back(n);
      }
    }
    const size_t next = ready[random() % ready.size()];
    placed[next] = true;
    shuffled.nodes.push_back(graph.nodes[next]);
  }
  Link(shuffled);
  return shuffled;
}

TEST_CASE("what is copied, and the cost, do not depend on the order of the nodes") {
  // One input is read at many depths, and so are the results of its readers.
  GraphBuilder builder;
  const TensorId x = builder.Input({6, 10});
  TensorId y = x;
  std::vector<TensorId> outputs;
  for (int step = 0; step < 5; ++step) {
    const TensorId left = builder.Matmul(y, builder.Parameter({10, 10}));
    const TensorId right = builder.Matmul(x, builder.Parameter({10, 10}));
    outputs.push_back(builder.Relu(right));
    y = builder.Add(builder.Relu(left), builder.Add(right, y));
  }
  outputs.push_back(y);
  const Graph graph = builder.Finish(outputs);
  std::mt19937 random(5);
  const Graph copied = WithCopies(graph);
  const int64_t bytes = PlanOf(copied, 4).cost.bytes();
  auto copies = CopiesOf(copied);
  std::sort(copies.begin(), copies.end());
  for (int i = 0; i < 24; ++i) {
    const Graph other = WithCopies(Shuffled(graph, random));
    auto others = CopiesOf(other);
    std::sort(others.begin(), others.end());
    CHECK(others == copies);
    CHECK(PlanOf(other, 4).cost.bytes() == bytes);
  }
}

TEST_CASE("copies save bytes where several products read one tensor, and never cost any") {
  for (int devices : {2, 3, 4, 6, 8}) {
    CAPTURE(devices);
    const Graph graph = Attention(12, 20, 2);
    const Plan bare = PlanOf(graph, devices), copied = PlanOf(WithCopies(graph), devices);
    CHECK(copied.space.copies);
    CHECK(copied.cost.bytes() <= bare.cost.bytes());
    if (devices == 8) CHECK(copied.cost.bytes() < bare.cost.bytes());
    CHECK(copied.lower_bound == copied.cost.bytes());
  }
}

TEST_CASE("nodes that share a copy need their input sent once") {
  GraphBuilder builder;
  const TensorId x = builder.Input({16, 96});
  std::vector<TensorId> outputs;
  for (int i = 0; i < 3; ++i) outputs.push_back(builder.Matmul(x, builder.Parameter({96, 96})));
  const Graph bare = builder.Finish(outputs), graph = WithCopies(bare);
  for (const Graph* each : {&bare, &graph}) {
    const Plan plan = PlanOf(*each, 8);
    int gathers = 0;
    for (const Move& move : MovesOf(*each, plan)) {
      gathers += !move.partial && move.bytes > 0 && SourceOf(*each, move.tensor) == x;
    }
    CHECK(gathers == (each == &bare ? 3 : 1));
  }
}

TEST_CASE("the checker refuses copies that it cannot trust") {
  const Graph graph = Attention(12, 20, 1), copied = WithCopies(graph);
  const Plan good = PlanOf(copied, 8);
  Plan plan = good;
  plan.space.copies = false;
  CHECK_THAT(CheckPlan(copied, plan),
             StatusIs(absl::StatusCode::kFailedPrecondition, "a graph without copies"));
  plan = good;
  const TensorId copy = static_cast<TensorId>(graph.tensors.size());
  Choice& choice = plan.tensors[copy];
  choice.axes = {{0, 1, 2}, {}};
  if (choice == good.tensors[copy]) choice.axes = {{}, {0, 1, 2}};
  CHECK_THAT(CheckPlan(copied, plan),
             StatusIs(absl::StatusCode::kFailedPrecondition, "sharded differently"));
  plan = good;
  plan.tensors[0].axes = {{}, {}};  // a stored tensor is cut as far as it can be
  CHECK_THAT(CheckPlan(copied, plan), Fails("is left out, but fits"));
}

}  // namespace
}  // namespace yuba::search
