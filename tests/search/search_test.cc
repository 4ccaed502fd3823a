// The figures of the design, and what a search must keep.

#include "search/search.h"

#include <catch2/catch.hpp>

#include "tests/support/graphs.h"

namespace yuba {
namespace {

Plan Found(const Graph& graph, int devices, const std::string& search = "default",
           Nesting nesting = Nesting::kFree) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  options.search = search;
  options.nesting = nesting;
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE(plan.ok());
  return *plan;
}

TEST_CASE("the chain of two products on 8 devices") {
  Graph graph = MatmulChain({128, 256, 256}, 256);
  Plan plan = Found(graph, 8);
  CHECK(plan.cost.bytes() == 4 * 327680);
  CHECK(plan.lower_bound == plan.cost.bytes());
  CHECK(plan.proof.kind == "elimination");
  CHECK(Found(graph, 8, "default", Nesting::kLevel).cost.bytes() == 4 * 360448);
}

TEST_CASE("the paper's chain on 8 devices") {
  Graph graph = MatmulChain({1024, 512, 16}, 128);
  CHECK(Found(graph, 8, "recursive").cost.bytes() == 4 * 374784);
  CHECK(Found(graph, 8, "default", Nesting::kLevel).cost.bytes() == 4 * 342016);
  CHECK(Found(graph, 8).cost.bytes() <= 4 * 342016);
}

TEST_CASE("one device moves nothing") {
  Plan plan = Found(MatmulChain({8, 8}, 8), 1);
  CHECK(plan.cost.bytes() == 0);
  CHECK(plan.lower_bound == 0);
}

TEST_CASE("ResNet-50 on 8 devices") {
  Plan plan = Found(ResNet(32, {3, 4, 6, 3}), 8);
  CHECK(plan.cost.bytes() == 434168064);
  CHECK(plan.lower_bound == plan.cost.bytes());
}

}  // namespace
}  // namespace yuba
