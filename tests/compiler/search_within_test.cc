// Plans within a limit on memory: their programs keep to the limit, no plan that keeps to it is
// cheaper than the bound, and the checker replays that bound.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <iostream>
#include <utility>

#include "compiler/search_model.h"
#include "search/check/check.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

search::SearchOptions Options(int devices, search::Replicate replicate, int64_t limit) {
  search::SearchOptions options;
  options.mesh = MeshOf(devices);
  options.replicate = replicate;
  options.memory_limit = limit;
  options.memory_of = ArenaBytes;
  return options;
}

TEST_CASE("more memory never costs bytes, and too little is answered with what is needed") {
  const absl::StatusOr<Model> model = ImportFile("tests/models/mlp/model.onnx");
  REQUIRE_THAT(model, IsOk());
  int64_t before = INT64_MAX;
  for (const int64_t limit : {int64_t{12000}, int64_t{20000}, int64_t{40000}, int64_t{1} << 30}) {
    const absl::StatusOr<search::Plan> plan =
        search::Search(model->graph, Options(8, search::Replicate::kAuto, limit));
    INFO(limit);
    REQUIRE_THAT(plan, IsOk());
    CHECK(ArenaBytes(model->graph, *plan) <= limit);
    CHECK(plan->cost.bytes() <= before);
    before = plan->cost.bytes();
  }
  CHECK(before == 0);  // every device holds all weights and has samples of its own
  const absl::StatusOr<search::Plan> none =
      search::Search(model->graph, Options(8, search::Replicate::kAuto, 1000));
  CHECK_THAT(none, StatusIs(absl::StatusCode::kFailedPrecondition));
  const std::string message(none.status().message());
  CHECK_THAT(message, Catch::Contains("are in use at node "));
  // The number of bytes that the error names is enough.
  const std::string before_number = "the smallest of those that were tried needs ";
  const size_t at = message.find(before_number);
  REQUIRE(at != std::string::npos);
  const int64_t enough = std::stoll(message.substr(at + before_number.size()));
  CHECK_THAT(search::Search(model->graph, Options(8, search::Replicate::kAuto, enough)), IsOk());
  CHECK_THAT(search::Search(model->graph, Options(8, search::Replicate::kAuto, enough - 1)),
             StatusIs(absl::StatusCode::kFailedPrecondition, "no plan within"));
}

TEST_CASE("within a limit, replicas never cost bytes") {
  int within = 0, cheaper = 0;
  for (int seed = 0; seed < 12; ++seed) {
    Random random(seed);
    Model model = RandomModel(random);
    search::SearchOptions options = Options(2 + seed % 5, search::Replicate::kNone, 0);
    options.copies = true;
    model.graph = search::SharedGraph(model.graph, options);
    const absl::StatusOr<search::Plan> free = search::Search(model.graph, options);
    REQUIRE_THAT(free, IsOk());
    options.memory_limit = ArenaBytes(model.graph, *free) - 1;
    const absl::StatusOr<search::Plan> none = search::Search(model.graph, options);
    if (!none.ok()) continue;
    options.replicate = search::Replicate::kAuto;
    const absl::StatusOr<search::Plan> replicated = search::Search(model.graph, options);
    INFO("seed " << seed);
    REQUIRE_THAT(replicated, IsOk());
    CHECK(replicated->cost.bytes() <= none->cost.bytes());
    CHECK(replicated->space.replicate == search::Replicate::kAuto);
    CHECK(ArenaBytes(model.graph, *replicated) <= options.memory_limit);
    CHECK_THAT(search::CheckPlan(model.graph, *replicated), IsOk());
    ++within;
    cheaper += replicated->cost.bytes() < none->cost.bytes();
  }
  CHECK(within > 0);
  CHECK(cheaper > 0);
}

// Layers whose inputs several nodes read, at the beginning and at the end.
Model RandomResidual(Random& random) {
  ModelBuilder build;
  const auto size = [&] { return int64_t{3} + static_cast<int64_t>(random() % 8); };
  const int64_t rows = size(), columns = size();
  TensorId at = build.Input({rows, columns});
  for (int layer = 0; layer < 2; ++layer) {
    const int64_t inner = size();
    const auto product = [&](TensorId of, int64_t width) {
      return build.MatMul(of, build.Input({build.Dims(of)[1], width}, TensorKind::kParameter));
    };
    const TensorId gate = build.Reduce(product(at, inner), Reducer::kMax);
    const TensorId hidden = build.Relu(product(at, inner));
    at = build.Add(at, build.SubtractColumn(product(hidden, columns), gate));
  }
  return build.Finish({at});
}

TEST_CASE("within a limit, copies never cost bytes") {
  int within = 0;
  for (const int seed : {1, 9}) {
    Random random(seed);
    const Model bare = RandomResidual(random);
    search::SearchOptions options = Options(
        2 + seed % 3, seed % 2 == 0 ? search::Replicate::kNone : search::Replicate::kAuto, 0);
    const absl::StatusOr<search::Plan> free = search::Search(bare.graph, options);
    REQUIRE_THAT(free, IsOk());
    for (const int part : {90, 80}) {
      options.memory_limit = ArenaBytes(bare.graph, *free) * part / 100;
      options.copies = false;
      const absl::StatusOr<search::Plan> without = search::Search(bare.graph, options);
      if (!without.ok()) continue;
      options.copies = true;
      Model model = bare;
      model.graph = search::SharedGraph(bare.graph, options);
      if (model.graph.tensors.size() == bare.graph.tensors.size()) continue;
      const absl::StatusOr<search::Plan> with = search::Search(model.graph, options);
      INFO("seed " << seed << ", " << options.memory_limit << " B");
      REQUIRE_THAT(with, IsOk());
      CHECK(with->cost.bytes() <= without->cost.bytes());
      CHECK(ArenaBytes(model.graph, *with) <= options.memory_limit);
      CHECK_THAT(search::CheckPlan(model.graph, *with), IsOk());
      ++within;
    }
  }
  std::cout << within << " limits with copies and without\n";
  CHECK(within > 0);
}

TEST_CASE("within a limit that another's plan keeps, no more is moved than by that plan") {
  const absl::StatusOr<Model> model = ImportFile("tests/models/mlp/model.onnx");
  REQUIRE_THAT(model, IsOk());
  int cheaper = 0;
  for (const char* name : {"data", "zero3", "megatron", "megatron-data", "all-row"}) {
    INFO(name);
    search::SearchOptions options = Options(4, search::Replicate::kNone, 0);
    options.search = name;
    const absl::StatusOr<search::Plan> other = search::Search(model->graph, options);
    REQUIRE_THAT(other, IsOk());
    const absl::StatusOr<search::Plan> plan = search::Search(
        model->graph, Options(4, search::Replicate::kAuto, ArenaBytes(model->graph, *other)));
    REQUIRE_THAT(plan, IsOk());
    CHECK(plan->cost.bytes() <= other->cost.bytes());
    cheaper += plan->cost.bytes() < other->cost.bytes();
  }
  CHECK(cheaper > 0);
}

TEST_CASE("a search that is stopped later has no plan that is much dearer") {
  absl::StatusOr<Model> model = ImportFile("tests/models/gpt/model.onnx");
  REQUIRE_THAT(model, IsOk());
  search::SearchOptions options = Options(8, search::Replicate::kAuto, 57'000);
  options.copies = true;
  model->graph = search::SharedGraph(model->graph, options);
  int64_t least = int64_t{1} << 60, first = 0;
  bool finished = false;
  for (int64_t allowed = 256; !finished; allowed *= 4) {
    int64_t looks = 0;  // of one thread
    options.asked = [&] { return ++looks > allowed; };
    const absl::StatusOr<search::Plan> plan = search::Search(model->graph, options);
    INFO("stopped at look " << allowed << ": " << plan.status());
    finished = looks <= allowed;
    REQUIRE_THAT(plan, IsOk());
    std::cout << "stopped at look " << allowed << ": " << plan->cost.bytes() << " bytes\n";
    CHECK(ArenaBytes(model->graph, *plan) <= options.memory_limit);
    CHECK(plan->cost.bytes() <= least + least / 4);
    least = std::min(least, plan->cost.bytes());
    if (first == 0) first = plan->cost.bytes();
  }
  CHECK(least < first);
}

TEST_CASE("prices that were altered prove no more than what is true") {
  const absl::StatusOr<Model> model = ImportFile("tests/models/mlp/model.onnx");
  REQUIRE_THAT(model, IsOk());
  const absl::StatusOr<search::Plan> plan =
      search::Search(model->graph, Options(8, search::Replicate::kAuto, 12000));
  REQUIRE_THAT(plan, IsOk());
  CHECK_THAT(search::CheckPlan(model->graph, *plan), IsOk());
  search::Plan claims = *plan;
  claims.lower_bound = claims.cost.bytes();
  if (claims.lower_bound > plan->lower_bound) {
    CHECK_THAT(search::CheckPlan(model->graph, claims),
               StatusIs(absl::StatusCode::kFailedPrecondition, "its proof shows only"));
  }
  for (const int64_t factor : {0, 2, 10}) {
    search::Plan bent = *plan;
    REQUIRE(!bent.proof.prices.empty());
    for (search::MemoryPrice& price : bent.proof.prices) price.price *= factor;
    if (factor == 0) {
      CHECK_THAT(search::CheckPlan(model->graph, bent),
                 StatusIs(absl::StatusCode::kFailedPrecondition,
                          "its proof shows only"));  // no limit is as cheap
    }
    bent.lower_bound = bent.cost.bytes() + 1;
    CHECK_THAT(search::CheckPlan(model->graph, bent),
               StatusIs(absl::StatusCode::kFailedPrecondition, "less than its lower bound"));
  }
  search::Plan unlimited = *plan;
  unlimited.space.memory = 0;
  CHECK_THAT(search::CheckPlan(model->graph, unlimited),
             StatusIs(absl::StatusCode::kFailedPrecondition, "the plan's space no limit"));
  search::Plan negative = *plan;
  negative.proof.prices[0].price = -1;
  CHECK_THAT(search::CheckPlan(model->graph, negative),
             StatusIs(absl::StatusCode::kFailedPrecondition, "prices are negative"));
}

}  // namespace
}  // namespace yuba::compiler
