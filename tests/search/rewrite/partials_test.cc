// Partials: sums stay unreduced through what is linear in them, where that moves fewer bytes.
#include "search/rewrite/partials.h"

#include <catch2/catch.hpp>

#include "search/check/check.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/marking.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// relu((x * w1) * w2): the second product is linear in the first, the map is not. With `relu` a map
// stands between the products too.
Graph Chain(int64_t rows, int64_t inner, int64_t middle, int64_t columns, bool relu = false) {
  GraphBuilder builder;
  TensorId y = builder.Matmul(builder.Input({rows, inner}), builder.Parameter({inner, middle}));
  if (relu) y = builder.Relu(y);
  TensorId z = builder.Matmul(y, builder.Parameter({middle, columns}));
  return builder.Finish({builder.Relu(z)});
}

SearchOptions Auto(const Mesh& mesh) {
  SearchOptions options;
  options.mesh = mesh;
  options.replicate = Replicate::kAuto;
  return options;
}

TEST_CASE("sums read once by what is linear in them may stay unreduced") {
  const Mesh mesh = MeshOf(4);
  const Graph bare = Chain(8, 16, 8, 4), graph = WithPartials(bare, mesh);
  CHECK(HasPartials(graph));
  CHECK_FALSE(HasPartials(bare));
  const Node &first = graph.nodes[0], &second = graph.nodes[1];
  CHECK(graph.tensors[first.result].kind == TensorKind::kPartial);
  CHECK(first.definition->partial);
  CHECK(second.definition->partial_operands == std::vector<int>{0});
  CHECK(second.definition->indices.size() == 4);
  CHECK_FALSE(second.definition->partial);  // what reads it is not linear
  const Graph back = WithoutPartials(graph);
  CHECK_FALSE(HasPartials(back));
  for (size_t n = 0; n < bare.nodes.size(); ++n) {
    CHECK(*back.nodes[n].definition == *bare.nodes[n].definition);
  }
  for (size_t t = 0; t < bare.tensors.size(); ++t) {
    CHECK(back.tensors[t].kind == bare.tensors[t].kind);
  }
  CHECK_FALSE(HasPartials(WithPartials(Chain(8, 16, 8, 4, true), mesh)));
  CHECK_FALSE(HasPartials(WithPartials(Chain(2, 16, 2, 4), MeshOf(8))));  // too small for the mesh
}

TEST_CASE("a product that makes its operand smaller is computed term by term") {
  const Mesh mesh = MeshOf(4);
  const Graph bare = Chain(16, 256, 64, 4);
  SearchOptions options = Auto(mesh);
  // Within this limit no device has room for replicas of the weights.
  options.memory_limit = 26000;
  const absl::StatusOr<Plan> without = Search(bare, options);
  REQUIRE_THAT(without, IsOk());
  const Graph graph = SharedGraph(bare, options);
  REQUIRE(HasPartials(graph));
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->cost.bytes() < without->cost.bytes());
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  CHECK_FALSE(plan->nodes[1].axes.back().empty());  // it has groups
  CHECK(MarkedBytes(graph, mesh, ShardingsOf(plan->tensors), ShardingsOf(plan->nodes)) ==
        plan->cost.bytes());
  Plan other = *plan;
  std::swap(other.nodes[1].axes.back(), other.nodes[1].axes[0]);
  CHECK_THAT(CheckPlan(graph, other),
             StatusIs(absl::StatusCode::kFailedPrecondition, "have other groups"));
  other = *plan;
  other.space.replicate = Replicate::kNone;
  CHECK_THAT(CheckPlan(graph, other), StatusIs(absl::StatusCode::kFailedPrecondition,
                                               "only where the plan's space replicates"));
}

TEST_CASE("plans without partials are plans with them, and no dearer") {
  const Mesh mesh = MeshOf(8);
  const Graph bare = Chain(16, 64, 32, 8), graph = WithPartials(bare, mesh);
  for (const char* search : {"default", "recursive", "data", "megatron", "zero3"}) {
    INFO(search);
    SearchOptions options;
    options.mesh = mesh;
    options.search = search;
    const absl::StatusOr<Plan> plan = Search(bare, options);
    REQUIRE_THAT(plan, IsOk());
    std::vector<Choice> choices = plan->tensors;
    choices.insert(choices.end(), plan->nodes.begin(), plan->nodes.end());
    choices = WithGroups(graph, mesh, std::move(choices));
    Plan here = *plan;
    here.space.replicate = Replicate::kAuto;
    here.space.nesting = Nesting::kFree;
    here.tensors.assign(choices.begin(), choices.begin() + graph.tensors.size());
    here.nodes.assign(choices.begin() + graph.tensors.size(), choices.end());
    here.cost = CostOf(graph, here);
    CHECK(here.cost.bytes() <= plan->cost.bytes());
    here.lower_bound = here.asked_bound = 0;
    here.proof = Proof();
    CHECK_THAT(CheckPlan(graph, here), IsOk());
  }
}

}  // namespace
}  // namespace yuba::search
