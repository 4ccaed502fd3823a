// What graphs share: how large their tables are, and what of it the search says that it left out.

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "search/check/check.h"
#include "search/model/graph_problem.h"
#include "search/rewrite/copies.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

TEST_CASE("the cells of all tables are counted, with copies and with replicas") {
  ProblemOptions options;
  options.mesh = MeshOf(8);
  options.axes = {0, 1, 2};
  options.cluster = false;  // clustered nodes may have tables in another order besides
  int replicated = 0;
  for (const Graph& bare :
       {MatmulChain({128, 64, 256}, 64), Recurrent(32, 64, 2, 3), ResNet(8, {1, 1})}) {
    int64_t before = 0;
    for (const Graph& graph : {bare, WithCopies(bare)}) {
      for (const bool replicate : {false, true}) {
        options.replicate = replicate;
        const Problem problem = BuildProblem(graph, options);
        std::set<Cells> tables;
        for (const Factor& factor : problem.pairwise.factors) tables.insert(factor.cells);
        int64_t cells = 0;
        for (const Cells& table : tables) cells += static_cast<int64_t>(table->size());
        CHECK(cells <= TableCells(graph, 3, replicate));
        replicated += replicate && cells > before;
        before = TableCells(graph, 3, false);
      }
    }
  }
  CHECK(replicated > 0);  // to count as if nothing were replicated is too few
}

TEST_CASE("what the search leaves out is said") {
  SearchOptions options;
  options.replicate = Replicate::kAuto;
  options.copies = true;
  const auto remarks = [&](const Graph& bare, int devices) {
    options.mesh = MeshOf(devices);
    const auto variant = [&](bool) -> absl::StatusOr<Graph> { return bare; };
    const absl::StatusOr<PlannedGraph> found = SearchSpaces(variant, options);
    REQUIRE_THAT(found, IsOk());
    return found->remarks;
  };
  const Graph chain = MatmulChain({4096, 4096, 4096}, 4096);
  CHECK(remarks(chain, 8).empty());
  const std::vector<std::string> many = remarks(chain, 1024);
  REQUIRE(many.size() == 1);
  CHECK_THAT(many[0], Catch::Contains("too many choices on so many devices"));
  const int64_t wide = 1 << 20;
  const std::vector<std::string> huge = remarks(MatmulChain({wide, wide, wide}, wide), 8);
  REQUIRE(huge.size() == 1);
  CHECK_THAT(huge[0], Catch::Contains("2^40 bytes"));
  options.replicate = Replicate::kNone;
  CHECK(remarks(chain, 1024).empty());
}

// y = x1 w1 + x2 w2, again and again: sums that accumulators save from being reduced twice.
Graph Sums(int64_t rows, int64_t width, int layers) {
  GraphBuilder b;
  TensorId x = b.Input({rows, width}), state = b.Input({rows, width});
  for (int layer = 0; layer < layers; ++layer) {
    const TensorId a = b.Matmul(x, b.Parameter({width, width}));
    const TensorId c = b.Matmul(state, b.Parameter({width, width}));
    state = b.Relu(b.Add(a, c));
  }
  return b.Finish({state});
}

TEST_CASE("with accumulators left to the search, no plan is dearer than with them or without") {
  int fewer = 0;
  for (const Graph& bare : {Sums(16, 512, 3), Sums(4096, 64, 3), Recurrent(16, 24, 1, 4)}) {
    for (const int devices : {4, 8, 48}) {
      SearchOptions options;
      options.mesh = MeshOf(devices);
      options.copies = true;
      const auto variant = [&](bool) -> absl::StatusOr<Graph> { return bare; };
      const auto search = [&](Accumulators accumulators) {
        options.accumulators = accumulators;
        const absl::StatusOr<PlannedGraph> found = SearchSpaces(variant, options);
        REQUIRE_THAT(found, IsOk());
        CHECK_THAT(CheckPlan(found->graph, found->plan), IsOk());
        return found->plan.cost.bytes();
      };
      const int64_t automatic = search(Accumulators::kAuto);
      const int64_t all = search(Accumulators::kAll), none = search(Accumulators::kNone);
      CAPTURE(devices, automatic, all, none);
      CHECK(automatic == std::min(all, none));
      fewer += all < none;
    }
  }
  CHECK(fewer > 0);
}

TEST_CASE("copies may take any memory unless a limit is stated") {
  GraphBuilder b;
  const TensorId x = b.Input({16, 96});
  std::vector<TensorId> products;
  for (int i = 0; i < 3; ++i) products.push_back(b.Matmul(x, b.Parameter({96, 96})));
  const Graph bare = b.Finish(products);
  const auto variant = [&](bool) -> absl::StatusOr<Graph> { return bare; };
  const auto shares = [](const Graph& graph, const Plan& plan) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
      return IsCopy(graph, node) && plan.tensors[node.result] != plan.tensors[node.operands[0]];
    });
  };
  // Programs of 1,000 bytes a device, and of so many more where a copy is shared.
  const auto search = [&](int64_t more, int64_t limit) {
    SearchOptions options;
    options.mesh = MeshOf(8);
    options.copies = true;
    options.accumulators = Accumulators::kNone;
    options.memory_limit = limit;
    options.memory_of = [&, more](const Graph& graph, const Plan& plan) {
      return 1000 + (shares(graph, plan) ? more : 0);
    };
    absl::StatusOr<PlannedGraph> found = SearchSpaces(variant, options);
    REQUIRE_THAT(found, IsOk());
    return *std::move(found);
  };
  const PlannedGraph free = search(1'000'000, 0), within = search(1000, 5000),
                     beyond = search(1000, 1500);
  for (const PlannedGraph* kept : {&free, &within}) CHECK(shares(kept->graph, kept->plan));
  CHECK(free.plan.space.memory == 0);
  CHECK(beyond.plan.cost.bytes() == 2 * free.plan.cost.bytes());
  CHECK_FALSE(shares(beyond.graph, beyond.plan));
}

}  // namespace
}  // namespace yuba::search
