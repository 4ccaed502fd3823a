// Pins at any size: on tables and on grids, alone and with limits and replicas, plans meet them,
// check, and move little.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "search/check/check.h"
#include "search/search.h"
#include "search/space/pin.h"
#include "search/space/pin_text.h"
#include "search/space/restriction.h"
#include "tests/support/engines.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// On 64 devices: 16 for the batch, 4 for the model.
SearchOptions DataAndModel() {
  SearchOptions options;
  options.mesh = MeshOf(64);
  return options;
}

// A tensor whose first dimension has these axes first, and whose other dimensions are free.
Pin First(TensorId tensor, size_t dims, AxisList axes) {
  Pin pin{false, tensor, Demands(dims), "pin of t" + std::to_string(tensor)};
  pin.demands[0].axes = std::move(axes);
  return pin;
}

Plan Checked(const Graph& graph, const SearchOptions& options) {
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  for (const Pin& pin : options.pins) CHECK(Meets(plan->tensors[pin.id], pin.demands));
  return *plan;
}

TEST_CASE("on many devices pinned plans on grids move less than the recursion's") {
  const Graph chain = MatmulChain({256, 1024, 256, 1024, 256}, 512), network = ResNet(64, {1, 1});
  int64_t saved = 0;
  for (const Graph* graph : {&chain, &network}) {
    SearchOptions options = DataAndModel();
    const int64_t free = Checked(*graph, options).cost.bytes();
    options.pins = {First(0, graph->tensors[0].type.dims.size(), {0, 1, 2, 3})};
    const Plan plan = Checked(*graph, Only(options, {"grids", "axes"}));
    CHECK(plan.lower_bound > 0);
    const absl::optional<Unpinned> unpinned = SearchUnpinned(*graph, options, plan);
    REQUIRE(unpinned.has_value());
    CHECK(unpinned->value == std::min(free, plan.cost.bytes()));
    CHECK(unpinned->lower_bound <= unpinned->value);
    options.search = "recursive";
    const int64_t recursive = Checked(*graph, options).cost.bytes();
    CHECK(plan.cost.bytes() <= recursive);
    saved += recursive - plan.cost.bytes();
  }
  CHECK(saved > 0);
}

TEST_CASE("a pin of a term of a sum is met by the graph without accumulators") {
  GraphBuilder b;
  const TensorId x = b.Input({64, 64}), y = b.Input({64, 64});
  const TensorId term = b.Matmul(x, b.Parameter({64, 64}));
  const TensorId other = b.Matmul(y, b.Parameter({64, 64}));
  const Graph bare = b.Finish({b.Relu(b.Add(term, other))});
  SearchOptions options = DataAndModel();
  options.copies = true;
  options.pin_texts = {bare.tensors[term].name + "=[a, -]"};
  const auto variant = [&](bool) -> absl::StatusOr<Graph> { return bare; };
  const absl::StatusOr<PlannedGraph> found = SearchSpaces(variant, options);
  REQUIRE_THAT(found, IsOk());
  CHECK_FALSE(found->plan.space.accumulators);
  CHECK(found->plan.tensors[term].axes[0].at(0) == 0);
  options.pins = {First(term, 2, {0})};
  options.pin_texts.clear();
  options.accumulators = Accumulators::kAll;
  CHECK_THAT(Search(SharedGraph(bare, options), options),
             StatusIs(absl::StatusCode::kInvalidArgument, "which is never stored"));
}

TEST_CASE("a plan that is pinned as it was found is found again") {
  const Graph graph = MatmulChain({256, 1024, 256}, 512);
  SearchOptions options = DataAndModel();
  const Plan best = Checked(graph, options);
  for (size_t t = 0; t < best.tensors.size(); ++t) {
    options.pins = {ExactPin(false, static_cast<int>(t), best.tensors[t])};
    const Plan plan = Checked(graph, options);
    CHECK(plan.cost.bytes() >= best.lower_bound);
    CHECK(plan.cost.bytes() <= best.cost.bytes());
  }
}

TEST_CASE("where everything is pinned the price of the plan is its bound") {
  const Graph graph = Recurrent(16, 24, 1, 4);
  for (const int devices : {4, 32}) {
    SearchOptions options;
    options.mesh = MeshOf(devices);
    const Plan best = Checked(graph, options);
    for (size_t t = 0; t < best.tensors.size(); ++t) {
      options.pins.push_back(ExactPin(false, static_cast<int>(t), best.tensors[t]));
    }
    for (size_t n = 0; n < best.nodes.size(); ++n) {
      options.pins.push_back(ExactPin(true, static_cast<int>(n), best.nodes[n]));
    }
    const absl::StatusOr<Plan> plan = Search(graph, options);
    REQUIRE_THAT(plan, IsOk());
    CHECK_THAT(CheckPlan(graph, *plan), IsOk());
    CHECK(plan->tensors == best.tensors);
    CHECK(plan->nodes == best.nodes);
    CHECK(plan->space.pins.size() == best.tensors.size() + best.nodes.size());
    CHECK(plan->lower_bound == plan->cost.bytes());
  }
}

TEST_CASE("a pattern that names a term of a sum among others loses no demand") {
  GraphBuilder b;
  const TensorId x = b.Input({64, 64});
  const TensorId term = b.Matmul(x, b.Parameter({64, 64}));
  const TensorId other = b.Matmul(x, b.Parameter({64, 64}));
  const Graph bare = b.Finish({b.Relu(b.Add(term, other))});
  SearchOptions options = DataAndModel();
  options.copies = true;
  REQUIRE_FALSE(ParsePin(SharedGraph(bare, options), options.mesh, "t0=[a, -]")->empty());
  options.pin_texts = {"t*=[b, *]"};
  const auto variant = [&](bool) -> absl::StatusOr<Graph> { return bare; };
  const absl::StatusOr<PlannedGraph> found = SearchSpaces(variant, options);
  REQUIRE_THAT(found, IsOk());
  CHECK_FALSE(found->plan.space.accumulators);
  for (const TensorId each : {x, term, other}) {
    const AxisList& rows = found->plan.tensors[each].axes[0];
    CHECK(std::count(rows.begin(), rows.end(), 1) == 1);
  }
}

TEST_CASE("pins hold with limits and with replicas on 16, 64 and 1,024 devices") {
  const Graph graph = MatmulChain({512, 1024, 512}, 2048);
  for (const int devices : {16, 64, 1024}) {
    for (const Replicate replicate : {Replicate::kNone, Replicate::kAuto}) {
      SearchOptions options;
      options.mesh = MeshOf(devices);
      options.replicate = replicate;
      options.pins = {First(0, 2, {1, 0})};                         // another order than the mesh's
      const int64_t needed = 32 * 2048 * 1024 / devices + 100'000;  // with room for gathers
      options.memory_limit = needed;
      CAPTURE(devices, WordOf(replicate));
      const Plan plan = Checked(graph, options);
      CHECK(plan.lower_bound > 0);
      options.memory_limit = 2 * needed;
      CHECK(Checked(graph, options).cost.bytes() <= plan.cost.bytes());
    }
  }
}

TEST_CASE("with the engines of grids alone, pinned plans of a small graph are near the best") {
  const Graph graph = MatmulChain({16, 64, 16}, 64);
  int equal = 0, count = 0;
  for (const AxisList& axes : {AxisList{0}, AxisList{1, 0}, AxisList{0, 1, 2}, AxisList{2}}) {
    for (const TensorId tensor : {0, 1, 2}) {
      SearchOptions options;
      options.mesh = MeshOf(8);
      options.pins = {First(tensor, 2, axes)};
      const Plan best = Checked(graph, options);
      const Plan plan = Checked(graph, Only(options, {"grids", "axes"}));
      CHECK(plan.cost.bytes() >= best.cost.bytes());
      CHECK(plan.cost.bytes() <= best.cost.bytes() * 5 / 4);
      equal += plan.cost.bytes() == best.cost.bytes();
      ++count;
    }
  }
  CAPTURE(equal, count);
  CHECK(2 * equal > count);
}

}  // namespace
}  // namespace yuba::search
