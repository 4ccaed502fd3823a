// Figures of known examples, and what holds for every search.

#include "search/search.h"

#include <catch2/catch.hpp>
#include <iostream>

#include "search/check/check.h"
#include "search/engines/task.h"
#include "search/plan/price_scale.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

Plan Found(const Graph& graph, int devices, const std::string& search = "default",
           Nesting nesting = Nesting::kFree) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  options.search = search;
  options.nesting = nesting;
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  return *plan;
}

TEST_CASE("the chain of two products on 8 devices") {
  Graph graph = MatmulChain({128, 256, 256}, 256);
  Plan plan = Found(graph, 8);
  CHECK(plan.cost.bytes() == 4 * 327680);
  CHECK(plan.lower_bound == plan.cost.bytes());
  CHECK(plan.proof.kind == ProofKind::kElimination);
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

TEST_CASE("what moves more than is counted is refused, what moves less is planned") {
  SearchOptions options;
  options.mesh = MeshOf(64);
  for (const int size : {22, 23, 24, 27, 29}) {
    const int64_t n = int64_t{1} << size;
    for (const char* search : {"default", "replicas", "recursive", "data"}) {
      const bool replicas = search == std::string("replicas");
      options.search = replicas ? "default" : search;
      options.replicate = replicas ? Replicate::kAuto : Replicate::kNone;
      options.copies = options.search != "data";
      options.memory_limit = replicas ? int64_t{1} << (2 * size + 4) : 0;
      INFO("2^" << size << " " << search);
      const Graph graph = SharedGraph(MatmulChain({n, n, n, n}, n), options);
      const absl::StatusOr<Plan> plan = Search(graph, options);
      if (size > 24) {  // one use alone moves 10^18 bytes; with 2^24 all together could
        CHECK_THAT(plan, StatusIs(absl::StatusCode::kInvalidArgument, "which are not counted"));
        continue;
      }
      REQUIRE_THAT(plan, IsOk());
      CHECK(plan->lower_bound <= plan->cost.bytes());
      CHECK_THAT(CheckPlan(graph, *plan), IsOk());
    }
  }
}

TEST_CASE("bounds within a limit are as close for huge tensors as for small ones") {
  double small_gap = 0;
  for (const int size : {10, 22}) {
    const int64_t n = int64_t{1} << size;
    SearchOptions options;
    options.mesh = MeshOf(8);
    options.replicate = Replicate::kAuto;
    options.memory_limit = 9 * n * n;  // bytes; without a limit nothing would move
    const Graph graph = MatmulChain({n, 2 * n, n, n / 2}, n);
    const absl::StatusOr<Plan> plan = Search(graph, options);
    INFO("2^" << size << " " << plan.status());
    REQUIRE(plan.ok());
    REQUIRE_FALSE(plan->proof.prices.empty());
    CHECK(CheckPlan(graph, *plan).ok());
    CHECK((PriceScaleOf(graph, 8).units < 4096) == (size == 22));
    Plan claims = *plan;
    claims.lower_bound = claims.lower_bound + claims.lower_bound / 50;
    CHECK_THAT(CheckPlan(graph, claims), StatusIs(absl::StatusCode::kFailedPrecondition));
    const double gap =
        1 - static_cast<double>(plan->lower_bound) / static_cast<double>(plan->cost.bytes());
    std::cout << "n = 2^" << size << ": gap " << gap << "\n";
    if (size == 10) small_gap = gap;
    CHECK(gap < small_gap + 0.01);
  }
}

TEST_CASE("ResNet-50 on 8 devices") {
  Plan plan = Found(ResNet(32, {3, 4, 6, 3}), 8);
  CHECK(plan.cost.bytes() == 434168064);
  CHECK(plan.lower_bound == plan.cost.bytes());
}

// Pinned shardings of matrices: rows or columns over these axes.
Pin Rows(TensorId tensor, AxisList axes) { return ExactPin(false, tensor, {{axes, {}}}); }
Pin Columns(TensorId tensor, AxisList axes) { return ExactPin(false, tensor, {{{}, axes}}); }

absl::StatusOr<Plan> Pinned(const Graph& graph, int devices, std::vector<Pin> pins) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  options.pins = std::move(pins);
  return Search(graph, options);
}

TEST_CASE("a map of two operands is computed where they are, not where its result is stored") {
  GraphBuilder builder;
  TensorId a = builder.Input({8, 8}), b = builder.Input({8, 8}), y = builder.Add(a, b);
  Graph graph = builder.Finish({y});
  absl::StatusOr<Plan> plan = Pinned(graph, 2, {Rows(a, {0}), Rows(b, {0}), Columns(y, {0})});
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->cost.bytes() == 4 * 32);
  CHECK(plan->tensors[y] == Choice{{{}, {0}}});
}

TEST_CASE("partial sums of f16 move as f32, so they are combined before they are moved on") {
  GraphBuilder builder;
  TensorId a = builder.Input({8, 8}, ElementType::kF16);
  TensorId w = builder.Parameter({8, 8}, ElementType::kF16);
  TensorId x = builder.Matmul(a, w);
  TensorId y = builder.Add(x, builder.Input({8, 8}, ElementType::kF16));
  Graph graph = builder.Finish({y});
  Pin product = ExactPin(true, 0, {{{1}, {}, {0}}});  // rows over b, the sum over a
  Pin sum = ExactPin(true, 1, {{{}, {0, 1}}});        // columns over ab
  absl::StatusOr<Plan> plan = Pinned(graph, 4, {product, sum});
  REQUIRE_THAT(plan, IsOk());
  // w: each device needs a half and has a quarter; x: 64 partials to [8/b, 8/a], then 32 sums.
  CHECK(plan->cost.weight == 2 * 64);
  CHECK(plan->cost.partial == 4 * 64);
  CHECK(plan->cost.activation == 2 * 32);
  CHECK(plan->lower_bound == plan->cost.bytes());
  CHECK(plan->lower_bound > Found(graph, 4).cost.bytes());
}

TEST_CASE("pins that cannot be are errors that name what is pinned") {
  Graph graph = MatmulChain({8, 3, 8}, 8);
  auto message = [&](std::vector<Pin> pins) {
    absl::StatusOr<Plan> plan = Pinned(graph, 4, std::move(pins));
    CHECK_THAT(plan, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(plan.status().message());
  };
  auto says = [&](std::vector<Pin> pins, const std::string& words) {
    std::string text = message(std::move(pins));
    INFO(text);
    CHECK(text.find(words) != std::string::npos);
  };
  says({Columns(1, {0, 1})}, "tensor t1 cannot be satisfied: dimension 1 of 3");
  says({Rows(1, {0})}, "axis b is left out");
  says({Rows(1, {0, 0})}, "axis a is used twice");
  says({Rows(1, {0, 7})}, "no axis number 7");
  says({ExactPin(false, 99, {})}, "number 99");
  says({ExactPin(true, -1, {})}, "number -1");
  says({Rows(0, {0, 1}), Columns(0, {0, 1})}, "contradict");
}

TEST_CASE("a plan with every tensor pinned is priced") {
  Graph graph = MatmulChain({128, 256, 256}, 256);
  Plan best = Found(graph, 8);
  std::vector<Pin> pins;
  for (size_t t = 0; t < best.tensors.size(); ++t) {
    pins.push_back(ExactPin(false, static_cast<int>(t), best.tensors[t]));
  }
  absl::StatusOr<Plan> again = Pinned(graph, 8, pins);
  REQUIRE_THAT(again, IsOk());
  CHECK(again->tensors == best.tensors);
  CHECK(again->cost.bytes() == best.cost.bytes());
}

TEST_CASE("pins hold with replicas and within limits") {
  const Graph graph = MatmulChain({16, 64, 16}, 64);
  const std::vector<Pin> pins = {Rows(0, {0, 1}), ExactPin(false, 1, {{{}, {}}})};
  const std::string message(Pinned(graph, 4, pins).status().message());
  CHECK_THAT(message, Catch::Contains("axis a is left out") &&
                          Catch::Contains("--replicate auto allows replicas"));
  SearchOptions options;
  options.mesh = MeshOf(4);
  options.replicate = Replicate::kAuto;
  options.pins = pins;
  const absl::StatusOr<Plan> data = Search(graph, options);
  REQUIRE_THAT(data, IsOk());
  CHECK(data->cost.bytes() == 0);  // the other weight is replicated too
  CHECK(Meets(data->tensors[1], pins[1].demands));
  int within = 0;
  for (const int64_t limit : {6000, 9000, 12000, 15000}) {
    options.memory_limit = limit;
    options.pins = pins;
    const absl::StatusOr<Plan> plan = Search(graph, options);
    options.pins.clear();
    const absl::StatusOr<Plan> any = Search(graph, options);
    if (!plan.ok()) continue;
    ++within;
    REQUIRE_THAT(any, IsOk());
    CHECK(Meets(plan->tensors[0], pins[0].demands));
    CHECK(Meets(plan->tensors[1], pins[1].demands));
    CHECK(plan->cost.bytes() >= any->cost.bytes());
    CHECK(plan->lower_bound >= any->lower_bound);
    CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  }
  CHECK(within > 0);
  CHECK(within < 4);
  options.search = "recursive";
  CHECK_THAT(Search(graph, options),
             StatusIs(absl::StatusCode::kInvalidArgument, "recursive knows neither --memory"));
}

TEST_CASE("pins may nest axes in another order than the mesh, where plans may") {
  const Graph chain = MatmulChain({8, 16, 16}, 8), deep = ResNet(4, {1, 1, 1, 1});
  const auto pinned = [](const Graph& graph, SearchOptions options, int devices, const Pin& pin) {
    options.mesh = MeshOf(devices);
    options.pins = {pin};
    return Search(graph, options);
  };
  const absl::StatusOr<Plan> few = pinned(chain, {}, 4, Columns(1, {1, 0}));
  REQUIRE_THAT(few, IsOk());
  CHECK(few->tensors[1] == Choice{{{}, {1, 0}}});
  SearchOptions approximate;
  approximate.table_cells = 64;
  for (const SearchOptions& options : {SearchOptions(), approximate}) {
    const absl::StatusOr<Plan> many =
        pinned(deep, options, 16, ExactPin(false, 0, {{{}, {}, {2, 0, 3, 1}, {}}}));
    REQUIRE_THAT(many, IsOk());
    CHECK(many->tensors[0] == Choice{{{}, {}, {2, 0, 3, 1}, {}}});
    CHECK_THAT(CheckPlan(deep, *many), IsOk());
  }
  SearchOptions recursive, level;
  recursive.search = "recursive";
  level.nesting = Nesting::kLevel;
  for (const SearchOptions& options : {recursive, level}) {
    CHECK_THAT(pinned(chain, options, 4, Columns(1, {0, 1})), IsOk());
    const absl::Status status = pinned(chain, options, 4, Columns(1, {1, 0})).status();
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "tensor t1 nests axes"));
    CHECK_THAT(status, Fails("(a=2 b=2)"));
  }
}

TEST_CASE("an unknown search is an error") {
  SearchOptions options;
  options.mesh = MeshOf(2);
  options.search = "magic";
  CHECK(Search(MatmulChain({8, 8}, 8), options).status().message().find("magic") !=
        absl::string_view::npos);
}

// The same network with other names, and its two branches in the other order.
Graph Branches(const std::string& prefix, bool swapped) {
  GraphBuilder builder(prefix);
  TensorId x = builder.Input({16, 8, 12, 12});
  TensorId left = -1, right = -1;
  auto left_branch = [&] {
    left = builder.Relu(builder.Conv(x, builder.Parameter({8, 8, 3, 3}), 1, 1));
  };
  auto right_branch = [&] {
    right = builder.Relu(builder.Conv(x, builder.Parameter({8, 8, 1, 1})));
  };
  if (swapped) right_branch();
  left_branch();
  if (!swapped) right_branch();
  TensorId y = builder.Add(left, right);
  return builder.Finish({builder.SumOver(builder.Conv(y, builder.Parameter({10, 8, 5, 5})), 1)});
}

TEST_CASE("names and the order of the file do not matter, and two runs agree") {
  Graph graph = Branches("t", false);
  Plan plan = Found(graph, 8), again = Found(graph, 8), renamed = Found(Branches("zz", false), 8);
  CHECK(again.tensors == plan.tensors);
  CHECK(again.nodes == plan.nodes);
  CHECK(renamed.tensors == plan.tensors);
  CHECK(renamed.nodes == plan.nodes);
  CHECK(renamed.proof.order == plan.proof.order);
  // x and the nodes from the sum of the branches on are at the same places.
  Graph other = Branches("t", true);
  Plan swapped = Found(other, 8);
  CHECK(swapped.cost.bytes() == plan.cost.bytes());
  CHECK(swapped.tensors[0] == plan.tensors[0]);
  for (size_t t = 7; t < plan.tensors.size(); ++t) CHECK(swapped.tensors[t] == plan.tensors[t]);
  for (size_t n = 4; n < plan.nodes.size(); ++n) CHECK(swapped.nodes[n] == plan.nodes[n]);
  for (size_t n = 0; n < 4; ++n) CHECK(swapped.nodes[(n + 2) % 4] == plan.nodes[n]);
}

TEST_CASE("where the tables do not fit there is still a plan, and a bound on grids") {
  Graph graph = Branches("t", false);
  SearchOptions options;
  options.mesh = MeshOf(8);
  options.table_cells = 100;
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->proof.kind == ProofKind::kDual);
  Plan best = Found(graph, 8), recursive = Found(graph, 8, "recursive");
  CHECK(plan->cost.bytes() >= best.cost.bytes());
  CHECK(plan->cost.bytes() <= recursive.cost.bytes());
  CHECK(plan->lower_bound <= best.cost.bytes());
  CHECK(plan->lower_bound > best.cost.bytes() / 2);
}

TEST_CASE("on many devices no more is moved than by the recursion") {
  for (const int devices : {12, 16, 24}) {
    const Graph graph = Recurrent(8, 24, 2, 6);
    const Plan plan = Found(graph, devices), recursive = Found(graph, devices, "recursive");
    INFO(devices << " " << WordOf(plan.proof.kind));
    CHECK(plan.cost.bytes() <= recursive.cost.bytes());
    CHECK_THAT(CheckPlan(graph, plan), IsOk());
  }
}

TEST_CASE("what costs nothing does not make the checker's tables large") {
  GraphBuilder b;
  const TensorId weight = b.Parameter({4, 4, 1, 1});  // on 5 devices everyone has all of it
  TensorId x = b.Input({8, 4, 8, 8});
  for (int layer = 0; layer < 20; ++layer) x = b.Conv(x, weight);
  const Graph graph = b.Finish({x});
  const Plan plan = Found(graph, 5);
  CHECK(plan.proof.kind == ProofKind::kElimination);
  CHECK_THAT(CheckPlan(graph, plan), IsOk());
}

TEST_CASE("an unrolled recurrent network is planned close to its bound") {
  Plan plan = Found(Recurrent(16, 64, 3, 8), 8);
  CHECK(plan.proof.kind == ProofKind::kDual);
  CHECK(plan.cost.bytes() - plan.lower_bound <= plan.cost.bytes() / 20);
}

TEST_CASE("on many devices plans cost little more than grids, and the checker follows") {
  auto gap = [](const Graph& graph, int devices) {
    Plan plan = Found(graph, devices);
    CHECK(plan.proof.kind == ProofKind::kDual);
    CHECK_THAT(CheckPlan(graph, plan), IsOk());
    return static_cast<double>(plan.cost.bytes() - plan.lower_bound) / plan.cost.bytes();
  };
  Graph chain = MatmulChain({256, 1024, 256, 1024, 256}, 512);
  CHECK(gap(chain, 64) <= 0.01);
  CHECK(gap(chain, 1024) <= 0.01);
  Graph network = Recurrent(64, 256, 2, 4);
  CHECK(gap(network, 64) <= 0.02);
  CHECK(gap(network, 96) <= 0.05);
  CHECK(gap(ResNet(32, {1, 1, 1, 1}), 64) <= 0.03);
}

TEST_CASE("larger tables are made where they are soon eliminated") {
  SearchOptions options;
  options.mesh = MeshOf(32);
  const Graph graph = MatmulChain({256, 512, 512}, 1024);
  REQUIRE_FALSE(FitsInTables(graph, options.mesh));
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->proof.kind == ProofKind::kElimination);
  CHECK(plan->cost.bytes() == plan->lower_bound);
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  options.table_cells = 1000;
  CHECK(Search(graph, options)->proof.kind == ProofKind::kDual);
}

}  // namespace
}  // namespace yuba::search
