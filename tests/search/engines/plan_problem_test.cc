// What a plan needs with its copies and without, and that nobody but a stated limit takes them
// away.

#include "search/model/plan_problem.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "search/check/check.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// Products of two inputs with weights of more bytes than the inputs have, so that products are cut
// over columns and read their inputs whole.
Graph Products() {
  GraphBuilder b;
  std::vector<TensorId> sums;
  for (const int64_t width : {192, 96}) {
    const TensorId input = b.Input({80, width});
    for (int reader = 0; reader < 3; ++reader) {
      sums.push_back(b.SumOver(b.Matmul(input, b.Parameter({width, 96})), 0));
    }
  }
  return b.Finish(sums);
}

SearchOptions WithCopiesOn8() {
  SearchOptions options;
  options.mesh = MeshOf(8);
  options.copies = true;
  options.memory_of = PeakOfPlan;
  return options;
}

TEST_CASE("without sharing a plan moves more and holds less") {
  const SearchOptions options = WithCopiesOn8();
  const Graph graph = SharedGraph(Products(), options);
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  REQUIRE(SharedCopies(graph, *plan) == 2);
  const Plan plain = WithoutSharing(graph, *plan);
  CHECK(SharedCopies(graph, plain) == 0);
  // What a copy gathers once, each of its three readers gathers then.
  int64_t copied = 0;
  for (const Move& move : MovesOf(graph, *plan)) {
    if (IsCopy(graph, graph.nodes[move.node])) copied += move.bytes;
  }
  CHECK(copied > 0);
  CHECK(plain.cost.bytes() - plan->cost.bytes() == 2 * copied);
  CHECK(PeakOfPlan(graph, plain) < PeakOfPlan(graph, *plan));
}

TEST_CASE("a copy that a pin demands is kept") {
  const SearchOptions options = WithCopiesOn8();
  const Graph graph = SharedGraph(Products(), options);
  const absl::StatusOr<Plan> found = Search(graph, options);
  REQUIRE_THAT(found, IsOk());
  Plan plan = *found;
  const auto copy = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                 [&](const Node& node) { return IsCopy(graph, node); });
  plan.space.pins = {{copy->result, {}}};
  CHECK(SharedCopies(graph, WithoutSharing(graph, plan)) == 1);
  plan.space.pins.clear();
  CHECK(SharedCopies(graph, WithoutSharing(graph, plan)) == 0);
}

TEST_CASE("where no limit is stated copies hold what they hold, and nobody asks for programs") {
  const Graph bare = Products();
  SearchOptions options = WithCopiesOn8();
  options.memory_of = [](const Graph&, const Plan&) -> int64_t {
    FAIL("no program is needed where memory is free");
    return 0;
  };
  const absl::StatusOr<PlannedGraph> found =
      SearchSpaces([&](bool) -> absl::StatusOr<Graph> { return bare; }, options);
  REQUIRE_THAT(found, IsOk());
  CHECK(found->plan.space.memory == 0);
  CHECK(SharedCopies(found->graph, found->plan) == 2);
  CHECK(found->plan.cost.bytes() == found->plan.lower_bound);
  CHECK(found->remarks.empty());
  CHECK_THAT(CheckPlan(found->graph, found->plan), IsOk());
}

TEST_CASE("a stated limit takes copies away") {
  const Graph bare = Products();
  const SearchOptions free = WithCopiesOn8();
  const auto variant = [&](bool) -> absl::StatusOr<Graph> { return bare; };
  const absl::StatusOr<PlannedGraph> all = SearchSpaces(variant, free);
  REQUIRE_THAT(all, IsOk());
  SearchOptions limited = free;
  limited.memory_limit = PeakOfPlan(all->graph, all->plan) - 1;
  const absl::StatusOr<PlannedGraph> found = SearchSpaces(variant, limited);
  REQUIRE_THAT(found, IsOk());
  CHECK(PeakOfPlan(found->graph, found->plan) <= limited.memory_limit);
  CHECK(found->plan.cost.bytes() > all->plan.cost.bytes());
}

}  // namespace
}  // namespace yuba::search
