// Which copies a plan keeps where they take too much memory.

#include "search/portfolio/copies_limit.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "search/check/check.h"
#include "search/model/plan_problem.h"
#include "search/search.h"
#include "search/solve/pairwise.h"
#include "search/space/pin.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// Products of several inputs with weights of more bytes than the inputs have, so that products are
// cut over columns and read their inputs whole. All inputs have readers at the end.
Graph ProductsOfInputs(const std::vector<int64_t>& widths, const std::vector<int>& readers,
                       int64_t columns = 96) {
  GraphBuilder b;
  std::vector<TensorId> inputs, sums;
  for (const int64_t width : widths) inputs.push_back(b.Input({80, width}));
  for (int i = 0; i < *std::max_element(readers.begin(), readers.end()); ++i) {
    for (size_t x = 0; x < inputs.size(); ++x) {
      if (i >= readers[x]) continue;
      const TensorId product = b.Matmul(inputs[x], b.Parameter({widths[x], columns}));
      sums.push_back(b.SumOver(product, 0));
    }
  }
  return b.Finish(sums);
}

// With so many inputs that all copies together take more than as much again as the rest.
Graph ManyProducts() {
  std::vector<int> readers(24, 2);
  readers[1] = readers[4] = 3;
  return ProductsOfInputs(std::vector<int64_t>(24, 96), readers);
}

SearchOptions WithCopiesOn8() {
  SearchOptions options;
  options.mesh = MeshOf(8);
  options.copies = true;
  options.memory_of = PeakOfPlan;
  return options;
}

// The plan that shares its first copies, second, ... where `shared` has that bit.
Plan Sharing(unsigned shared, const Graph& graph, const Plan& plan) {
  Plan result = WithoutSharing(graph, plan);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!IsCopy(graph, node)) continue;
    if ((shared & 1) != 0) result.nodes[n] = result.tensors[node.result] = plan.nodes[n];
    shared >>= 1;
  }
  result.cost = CostOf(graph, result);
  return result;
}

// The same for programs that need three times as much where all copies are shared: not even the
// bytes that all of them save are worth that.
SearchOptions WithDearCopiesOn8() {
  SearchOptions options = WithCopiesOn8();
  options.memory_of = [](const Graph& graph, const Plan& plan) {
    const auto copies = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                      [&](const Node& node) { return IsCopy(graph, node); });
    return PeakOfPlan(graph, plan) * (SharedCopies(graph, plan) == copies ? 3 : 1);
  };
  return options;
}

TEST_CASE("within every limit the copies are kept that save the most") {
  // Of 61, 31 and 31 KB: two of the smaller take as much as the first and have more readers.
  const SearchOptions options = WithCopiesOn8();
  const Graph graph =
      SharedGraph(ProductsOfInputs({192, 96, 96, 192, 96}, {3, 3, 4, 2, 2}), options);
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  REQUIRE(SharedCopies(graph, *plan) == 5);
  std::vector<Plan> all;
  for (unsigned shared = 0; shared < 32; ++shared) all.push_back(Sharing(shared, graph, *plan));
  const int64_t least = PeakOfPlan(graph, all.front()), most = PeakOfPlan(graph, *plan);
  CHECK_FALSE(KeepCopiesWithin(least - 1, graph, *plan, options).has_value());
  std::vector<int64_t> bytes;
  for (int64_t limit = least; limit <= most; limit += (most - least) / 16) {
    CAPTURE(limit);
    int64_t fewest = kForbidden;
    for (const Plan& each : all) {
      if (PeakOfPlan(graph, each) <= limit) fewest = std::min(fewest, each.cost.bytes());
    }
    const absl::optional<Plan> kept = KeepCopiesWithin(limit, graph, *plan, options);
    REQUIRE(kept.has_value());
    CHECK(kept->cost.bytes() == fewest);
    CHECK(kept->space.memory == limit);
    CHECK(PeakOfPlan(graph, *kept) <= limit);
    CHECK_THAT(CheckPlan(graph, *kept), IsOk());
    bytes.push_back(fewest);
  }
  CHECK(bytes.front() == all.front().cost.bytes());
  CHECK(bytes.back() == plan->cost.bytes());
  CHECK(std::set<int64_t>(bytes.begin(), bytes.end()).size() > 5);
}

TEST_CASE("programs that need more than their rows keep to the limit too") {
  SearchOptions options = WithCopiesOn8();
  options.memory_of = [](const Graph& graph, const Plan& plan) {
    return PeakOfPlan(graph, plan) / 32 * 33;
  };
  const Graph graph =
      SharedGraph(ProductsOfInputs({192, 96, 96, 192, 96}, {3, 3, 4, 2, 2}), options);
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  const Plan plain = WithoutSharing(graph, *plan);
  const int64_t least = options.memory_of(graph, plain);
  for (const int64_t eighths : {10, 11, 12}) {
    const int64_t limit = least * eighths / 8;
    const absl::optional<Plan> kept = KeepCopiesWithin(limit, graph, *plan, options);
    REQUIRE(kept.has_value());
    CHECK(options.memory_of(graph, *kept) <= limit);
    CHECK(kept->cost.bytes() < plain.cost.bytes());
  }
  options.asked = [] { return true; };
  CHECK_FALSE(KeepCopiesWithin(least * 2, graph, *plan, options).has_value());
}

TEST_CASE("the rows of copies and their costs are those of the plans") {
  const SearchOptions options = WithCopiesOn8();
  const Graph graph = SharedGraph(ProductsOfInputs({192, 96}, {3, 2}), options);
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  const Problem problem = ProblemOfCopies(graph, WithoutSharing(graph, *plan), *plan);
  for (unsigned shared = 0; shared < 4; ++shared) {
    const Plan here = Sharing(shared, graph, *plan);
    Choices choices = here.tensors;
    choices.insert(choices.end(), here.nodes.begin(), here.nodes.end());
    const Assignment assignment = problem.ValuesOf(choices);
    CHECK(problem.ChoicesOf(assignment) == choices);
    CHECK(CostOf(problem.pairwise, assignment) == here.cost.bytes());
    CHECK(PeakOf(problem.pairwise, assignment) == PeakOfPlan(graph, here));
  }
}

TEST_CASE("a copy that a pin demands is kept") {
  const SearchOptions options = WithCopiesOn8();
  const Graph graph = SharedGraph(ProductsOfInputs({192, 96}, {3, 2}), options);
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

TEST_CASE(
    "where no limit is stated, copies may take as much again, and nothing is searched again") {
  const Graph bare = ManyProducts();
  SearchOptions options = WithDearCopiesOn8();
  std::vector<std::string> engines;
  options.report = [&](const EngineReport& report) { engines.push_back(report.engine); };
  const absl::StatusOr<PlannedGraph> found =
      SearchSpaces([&](bool) -> absl::StatusOr<Graph> { return bare; }, options);
  REQUIRE_THAT(found, IsOk());
  const Graph& graph = found->graph;
  const Plan& plan = found->plan;
  const Plan plain = WithoutSharing(graph, plan);
  CHECK(plan.space.memory == PeakOfPlan(graph, plain) * 2);
  CHECK(PeakOfPlan(graph, plan) <= plan.space.memory);
  CHECK(SharedCopies(graph, plan) > 0);
  CHECK(plan.cost.bytes() < plain.cost.bytes());
  CHECK(plan.cost.bytes() > plan.lower_bound);
  CHECK_THAT(CheckPlan(graph, plan), IsOk());
  REQUIRE(found->left_out.size() == 1);
  CHECK_THAT(found->left_out[0], Catch::Contains("of 24 are shared"));
  CHECK(std::count(engines.begin(), engines.end(), "copies") == 1);
  CHECK(engines.back() == "copies");
}

TEST_CASE("what is found without pins keeps to the limit of copies too") {
  const Graph bare = ManyProducts();
  SearchOptions options = WithDearCopiesOn8();
  const absl::StatusOr<Plan> with_all = Search(SharedGraph(bare, options), options);
  REQUIRE_THAT(with_all, IsOk());
  options.pins = {ExactPin(false, bare.inputs[0], Sharding{{{}, {0, 1, 2}}})};
  const absl::StatusOr<PlannedGraph> found =
      SearchSpaces([&](bool) -> absl::StatusOr<Graph> { return bare; }, options);
  REQUIRE_THAT(found, IsOk());
  CHECK(found->plan.space.memory > 0);
  CHECK_THAT(CheckPlan(found->graph, found->plan), IsOk());
  REQUIRE(found->plan.unpinned.has_value());
  CHECK(found->plan.unpinned->value > with_all->cost.bytes());
}

}  // namespace
}  // namespace yuba::search
