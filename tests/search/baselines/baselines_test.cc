// How others partition, on graphs whose figures can be counted by hand.
#include "search/baselines/baselines.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "search/check/check.h"
#include "search/model/recursion.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/copies.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

Plan Found(const Graph& graph, int devices, const std::string& search) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  options.search = search;
  absl::StatusOr<Plan> plan = Search(graph, options);
  INFO(search);
  REQUIRE_THAT(plan, IsOk());
  return *plan;
}

// What must be said of the baseline's plan, where that moves weights.
std::string Remark(const std::string& search, const Graph& graph, int devices, int64_t weight = 1) {
  Plan plan = Found(graph, devices, search);
  plan.cost.weight = weight;
  return FindBaseline(search)->remark(graph, plan);
}

int64_t WeightBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.kind == TensorKind::kParameter) bytes += 4 * ElementCount(tensor.type);
  }
  return bytes;
}

TEST_CASE("every baseline's plan passes the checker, on any number of devices") {
  for (const Graph& graph :
       {MatmulChain({24, 40, 5, 1}, 9), ResNet(4, {1, 1, 1, 1}), Recurrent(6, 12, 2, 3)}) {
    for (const Baseline& baseline : Baselines()) {
      for (int devices : {1, 2, 5, 6, 8, 12}) {
        const Plan plan = Found(graph, devices, baseline.name);
        INFO(baseline.name << " on " << devices);
        const absl::Status status = CheckPlan(graph, plan);
        CHECK_THAT(status, IsOk());
        CHECK(plan.search == baseline.name);
        CHECK(plan.space.replicate == (baseline.replicates ? Replicate::kAuto : Replicate::kNone));
        if (devices == 1) CHECK(plan.cost.bytes() == 0);
      }
    }
  }
}

TEST_CASE("dimensions shorter than the devices are many leave every baseline a plan") {
  const Graph graph = ResNet(4, {1, 1, 1, 1});
  for (const Baseline& baseline : Baselines()) {
    for (int devices : {16, 48}) {
      INFO(baseline.name << " on " << devices);
      const absl::Status status = CheckPlan(graph, Found(graph, devices, baseline.name));
      CHECK_THAT(status, IsOk());
    }
  }
}

TEST_CASE("with replicas on many devices the plan is the cheapest that is known") {
  const Graph graph = ResNet(4, {1, 1, 1, 1});
  SearchOptions options;
  options.mesh = MeshOf(16);
  options.replicate = Replicate::kAuto;
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  CHECK(plan->space.replicate == Replicate::kAuto);
  CHECK(plan->proof.kind == ProofKind::kDual);
  CHECK(plan->lower_bound > 0);  // four images are too few for 16 devices to copy nothing
  for (const char* search : {"default", "data", "megatron"}) {
    CHECK(plan->cost.bytes() <= Found(graph, 16, search).cost.bytes());
  }
  options.replicate = Replicate::kNone;
  options.memory_limit = 1000;
  options.memory_of = [](const Graph&, const Plan&) { return int64_t{1001}; };
  const absl::Status none = Search(graph, options).status();
  CHECK_THAT(none, StatusIs(absl::StatusCode::kFailedPrecondition, "within 1000 bytes"));
  CHECK_THAT(none, Fails("were tried needs 1001"));
  CHECK(none.message().find("replicate") == absl::string_view::npos);
  // The one plan that fits is taken, with the bound of all plans.
  const int64_t all_row = Found(graph, 16, "all-row").cost.bytes();
  options.memory_limit = int64_t{1} << 30;
  options.memory_of = [&](const Graph&, const Plan& found) {
    return options.memory_limit + (found.cost.bytes() == all_row ? 0 : 1);
  };
  const absl::StatusOr<Plan> fits = Search(graph, options);
  REQUIRE_THAT(fits, IsOk());
  CHECK(fits->cost.bytes() == all_row);
  CHECK(fits->lower_bound > 0);
  CHECK_THAT(CheckPlan(graph, *fits), IsOk());
}

// Three products of one input, two of which meet in a sum, and weights that are read twice.
Graph Shared(const Mesh& mesh, bool accumulators) {
  GraphBuilder builder;
  const TensorId x = builder.Input({8, 24}), w = builder.Parameter({24, 24});
  const TensorId a = builder.Matmul(x, w), b = builder.Matmul(x, builder.Parameter({24, 24}));
  const TensorId c = builder.Matmul(builder.Relu(x), w);
  const TensorId y = builder.Add(builder.Add(a, b), builder.Relu(c));
  const Graph graph = WithCopies(builder.Finish({y}));
  return accumulators ? WithAccumulators(graph, mesh) : graph;
}

TEST_CASE("baselines count among the plans of graphs with copies and accumulators") {
  for (const bool accumulators : {false, true}) {
    for (const int devices : {2, 8}) {
      const Mesh mesh = MeshOf(devices);
      const Graph graph = Shared(mesh, accumulators);
      REQUIRE(graph.copies);
      REQUIRE(HasAccumulators(graph) == accumulators);
      const Uncopied bare = WithoutCopies(graph);
      CHECK(!bare.graph.copies);
      CheckGraph(bare.graph);
      for (const Baseline& baseline : Baselines()) {
        INFO(baseline.name << " on " << devices);
        Plan plan, with_copies;
        const BaselineOptions asked = {mesh, {}, 1 << 20};
        const Choices choices = ChoicesOf(baseline, bare.graph, asked, Budget::Unlimited());
        const auto set = [&](const Graph& of, const Choices& all, Plan* made) {
          made->mesh = mesh;
          made->space.copies = of.copies;
          made->space.replicate = Replicate::kAuto;
          made->tensors.assign(all.begin(), all.begin() + of.tensors.size());
          made->nodes.assign(all.begin() + of.tensors.size(), all.end());
          made->cost = CostOf(of, *made);
          CHECK_THAT(CheckPlan(of, *made), IsOk());
        };
        set(bare.graph, choices, &plan);
        set(graph, ChoicesWithCopies(graph, bare, choices), &with_copies);
        CHECK(with_copies.cost.bytes() == plan.cost.bytes());
        SearchOptions options;
        options.mesh = mesh;
        options.replicate = Replicate::kAuto;
        const absl::StatusOr<Plan> found = Search(graph, options);
        REQUIRE_THAT(found, IsOk());
        CHECK(found->cost.bytes() <= plan.cost.bytes());
      }
    }
  }
}

TEST_CASE("none that replicates nothing is better than the optimum") {
  const Graph graph = ResNet(8, {1, 2, 1, 1});
  const int64_t best = Found(graph, 8, "default").cost.bytes();
  for (const Baseline& baseline : Baselines()) {
    if (!baseline.replicates) CHECK(Found(graph, 8, baseline.name).cost.bytes() >= best);
  }
}

TEST_CASE("data parallelism moves nothing forward, ZeRO every weight to the seven others") {
  const Graph graph = ResNet(32, {1, 1, 1, 1});
  const Plan data = Found(graph, 8, "data");
  CHECK(data.cost.bytes() == 0);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].kind != TensorKind::kParameter) continue;
    for (const AxisList& axes : data.tensors[t].axes) CHECK(axes.empty());
  }
  const Plan zero = Found(graph, 8, "zero3");
  CHECK(zero.cost.bytes() == 7 * WeightBytes(graph));
  CHECK(zero.cost.weight == zero.cost.bytes());
}

TEST_CASE("the batch is what is known to be it, wherever it is") {
  GraphBuilder builder;
  const TensorId x = builder.Input({16, 64}), y = builder.Relu(x);
  Graph graph = builder.Finish({y});
  const auto cut_along = [&](size_t dim) {
    const Plan plan = Found(graph, 8, "data");
    return plan.tensors[y].axes[dim] == AxisList{0, 1, 2} && plan.tensors[x] == plan.tensors[y] &&
           plan.nodes[0] == plan.tensors[y];
  };
  CHECK(cut_along(0));
  graph.tensors[x].batch_dim = 1;
  CHECK(cut_along(1));
  graph.tensors[x].batch_dim = 0;
  CHECK(cut_along(0));
}

TEST_CASE("Megatron gathers before columns and scatters sums after rows") {
  GraphBuilder builder;
  const TensorId x = builder.Input({16, 32});
  const TensorId h = builder.Relu(builder.Matmul(x, builder.Parameter({32, 64})));
  const TensorId y = builder.Matmul(h, builder.Parameter({64, 32}));
  const Graph graph = builder.Finish({y});
  const Plan plan = Found(graph, 8, "megatron");
  CHECK(plan.nodes[0].axes[1] == AxisList{0, 1, 2});  // columns
  CHECK(plan.nodes[2].axes[2] == AxisList{0, 1, 2});  // the sum
  CHECK(plan.cost.weight == 0);
  CHECK(plan.cost.activation == 0);  // the input lies whole on every device
  CHECK(plan.cost.partial == 7 * 4 * 16 * 32);
}

TEST_CASE("the batch is the second dimension where the first is taken step by step") {
  GraphBuilder builder;
  const TensorId x = builder.Input({8, 16, 24});
  std::vector<TensorId> steps;
  for (int64_t step = 0; step < 8; ++step) steps.push_back(builder.Relu(builder.Slice(x, step, 1)));
  const Graph graph = builder.Finish(steps);
  const Plan plan = Found(graph, 8, "data");
  CHECK(plan.tensors[x].axes[1] == AxisList{0, 1, 2});
  CHECK(plan.cost.bytes() == 0);
  CHECK(Remark("data", graph, 8).find("batch") == std::string::npos);
  const std::string remark = Remark("zero3", graph, 3);
  CHECK(remark.find("the batch of 16 is not a multiple of 3 devices") != std::string::npos);
  CHECK(Remark("data", graph, 8).find("computed once") == std::string::npos);
  CHECK(Remark("data", graph, 32).find("shorter than the 32") != std::string::npos);
}

TEST_CASE("Megatron leaves a product whole that no row parallel one follows") {
  GraphBuilder builder;
  const TensorId x = builder.Input({16, 32});
  const TensorId patches = builder.Matmul(x, builder.Parameter({32, 64}));
  const TensorId normed = builder.Scale(patches, builder.SumOver(patches, 1), 0);
  const TensorId up = builder.Relu(builder.Matmul(normed, builder.Parameter({64, 128})));
  const TensorId down = builder.Matmul(up, builder.Parameter({128, 64}));
  const TensorId head = builder.Matmul(builder.Add(patches, down), builder.Parameter({64, 8}));
  const Graph graph = builder.Finish({head});
  const Plan plan = Found(graph, 8, "megatron");
  const AxisList all = {0, 1, 2};
  CHECK(plan.nodes[graph.tensors[patches].producer].axes[0] == all);  // the batch
  CHECK(plan.nodes[graph.tensors[up].producer - 1].axes[1] == all);   // columns
  CHECK(plan.nodes[graph.tensors[down].producer].axes[2] == all);     // rows
  CHECK(plan.nodes[graph.tensors[head].producer].axes[0] == all);     // the batch
  CHECK(plan.cost.activation == 7 * 4 * 16 * 64);
  CHECK(plan.cost.partial == 7 * 4 * 16 * 64);
  CHECK(plan.cost.bytes() == plan.cost.activation + plan.cost.partial);
}

TEST_CASE("Megatron gathers once for the gate and the product beside it") {
  GraphBuilder builder;
  const TensorId x = builder.Relu(builder.Input({16, 32}));
  const TensorId gate = builder.Relu(builder.Matmul(x, builder.Parameter({32, 64})));
  const TensorId beside = builder.Matmul(x, builder.Parameter({32, 64}));
  const TensorId down = builder.Matmul(builder.Add(gate, beside), builder.Parameter({64, 32}));
  const Graph graph = WithCopies(builder.Finish({builder.Add(x, down)}));
  const Plan plan = Found(graph, 8, "megatron");
  CHECK_THAT(CheckPlan(graph, plan), IsOk());
  CHECK(plan.tensors[x].axes[0] == AxisList{0, 1, 2});  // what is added is cut on the batch
  CHECK(plan.cost.activation == 7 * 4 * 16 * 32);
  CHECK(plan.cost.partial == 7 * 4 * 16 * 32);
}

// One block of attention with 6 heads of 4, as Megatron cuts it: columns of q, k and v, rows of the
// product behind them.
Graph Attention() {
  GraphBuilder b;
  const TensorId x = b.Relu(b.Input({48, 24}));
  const auto heads = [&] { return b.Matmul(x, b.Parameter({24, 6})); };
  const TensorId mixed = b.Relu(b.Add(heads(), heads()));
  return b.Finish({b.Matmul(mixed, b.Parameter({6, 24}))});
}

TEST_CASE("Megatron says where devices get no whole heads, and products avoid that") {
  const Graph graph = Attention();
  CHECK(Remark("megatron", graph, 3).empty());
  CHECK(Remark("megatron", graph, 6).empty());
  const std::string words = "the 6 of this model are not a multiple of 4 devices";
  CHECK(Remark("megatron", graph, 4).find(words) != std::string::npos);
  for (const int devices : {2, 3, 6}) CHECK(SuitsMegatron(graph, MeshOf(devices)));
  for (const int devices : {4, 5, 12}) CHECK(!SuitsMegatron(graph, MeshOf(devices)));
  // Of 48 examples 32 devices have no equal share, and of 6 heads 4 devices or more have none.
  CHECK(SuitsDataParallel(graph, MeshOf(16)));
  CHECK(!SuitsDataParallel(graph, MeshOf(32)));
  const std::string two = "tensor parallel over 2, data parallel over 16 devices";
  CHECK(Remark("megatron-data", graph, 32).find(two) != std::string::npos);
  const std::string product = Remark("megatron-data", graph, 8);
  CHECK(product.find("are not a multiple") == std::string::npos);
}

TEST_CASE("a product of baselines is each of them on its axes, and at best one of them") {
  const Graph graph = Attention();
  for (const int devices : {2, 6, 8, 12}) {
    const int64_t product = Found(graph, devices, "megatron-data").cost.bytes();
    CHECK(product <= Found(graph, devices, "data").cost.bytes());
  }
  // Of two kinds of links weights are cut over the inner ones.
  SearchOptions options;
  options.mesh = {{{"a", 2, 1}, {"b", 2, 0}, {"c", 2, 0}}};
  options.search = "hsdp";
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].kind != TensorKind::kParameter) continue;
    CHECK(plan->tensors[t].axes[0] == AxisList{1, 2});
  }
  CHECK(IsPure(*FindBaseline("hsdp"), MeshOf(8)));
  CHECK(!IsPure(*FindBaseline("hsdp"), options.mesh));
  CHECK(!IsPure(*FindBaseline("zero3"), MeshOf(8)));
}

TEST_CASE("ZeRO's first stages have the plan of data parallelism and other memory") {
  const Baseline &data = *FindBaseline("data"), &zero1 = *FindBaseline("zero1");
  CHECK(HaveSamePlans(data, zero1));
  CHECK(HaveSamePlans(data, *FindBaseline("zero2")));
  CHECK(!HaveSamePlans(data, *FindBaseline("zero3")));
  CHECK(!HaveSamePlans(*FindBaseline("spartan"), *FindBaseline("mindspore")));
}

TEST_CASE("no reduction is cut by icml18, one dimension by equal-chop, the first by all-row") {
  const Graph graph = ResNet(32, {1, 1, 1, 1});
  CHECK(Found(graph, 8, "icml18").cost.partial == 0);
  for (const Choice& choice : Found(graph, 8, "equal-chop").tensors) {
    CHECK(std::count_if(choice.axes.begin(), choice.axes.end(),
                        [](const AxisList& a) { return !a.empty(); }) == 1);
  }
  for (const Choice& choice : Found(graph, 8, "all-row").tensors) CHECK(choice.axes[0].size() == 3);
}

TEST_CASE("ResNet-50 on 8 devices as others plan it") {
  const Graph graph = ResNet(32, {3, 4, 6, 3});
  CHECK(Found(graph, 8, "icml18").cost.bytes() == 482936064);
  CHECK(Found(graph, 8, "all-row").cost.bytes() == 507949312);
  CHECK(Found(graph, 8, "equal-chop").cost.bytes() == 514961664);
  CHECK(Found(graph, 8, "zero3").cost.bytes() == 7 * WeightBytes(graph));
}

TEST_CASE("the recursion's levels add up, and none adds less than the one before") {
  const Graph graph = MatmulChain({1024, 512, 16}, 128);
  const Plan plan = Found(graph, 8, "recursive");
  const std::vector<int64_t> levels = BytesByLevel(graph, plan);
  REQUIRE(levels.size() == 3);
  CHECK(std::accumulate(levels.begin(), levels.end(), int64_t{0}) == 4 * 374784);
  CHECK(levels[0] <= levels[1]);
  CHECK(levels[1] <= levels[2]);
}

TEST_CASE(
    "weights that the graph computes are said to move, where devices would compute them all") {
  GraphBuilder b;
  const TensorId weight = b.Relu(b.Parameter({16, 16}));
  const Graph graph = b.Finish({b.Matmul(b.Input({16, 16}), weight)});
  for (const char* name : {"data", "zero3"}) {
    const std::string words = "are computed once and gathered";
    CHECK(Remark(name, graph, 8).find(words) != std::string::npos);
    CHECK(Remark(name, graph, 8, 0).find(words) == std::string::npos);
  }
}

}  // namespace
}  // namespace yuba::search
