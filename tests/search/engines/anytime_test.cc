// Searches that are stopped at each of the places where they look whether to stop, and searches on
// several threads.
#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "search/check/check.h"
#include "search/rewrite/copies.h"
#include "search/rewrite/partials.h"
#include "search/search.h"
#include "search/solve/parallel.h"
#include "tests/support/graphs.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// One graph for each way that a search can go.
struct Way {
  std::string name;
  Graph graph;
  SearchOptions options;
};

// Products that meet again, so that tables have three variables and it matters which axes are used.
Graph Rings() {
  GraphBuilder b;
  const TensorId x = b.Input({64, 48});
  TensorId sum = b.Matmul(x, b.Parameter({48, 32}));
  for (int ring = 0; ring < 2; ++ring) {
    const TensorId left = b.Relu(b.Matmul(sum, b.Parameter({32, 64})));
    const TensorId right = b.Matmul(b.Relu(sum), b.Parameter({32, 64}));
    sum = b.Add(b.Matmul(left, b.Parameter({64, 32})), b.Matmul(right, b.Parameter({64, 32})));
  }
  return b.Finish({sum});
}

std::vector<Way> Ways() {
  std::vector<Way> ways;
  const auto add = [&](const std::string& name, Graph graph, int devices) -> SearchOptions& {
    ways.push_back({name, std::move(graph), {}});
    ways.back().options.mesh = MeshOf(devices);
    return ways.back().options;
  };
  add("elimination", Rings(), 8);
  add("copies", WithCopies(Rings()), 4).copies = true;
  add("local search", Rings(), 8).table_cells = 2000;
  add("anchored dual", Recurrent(3, 5, 2, 4), 4).table_cells = 2000;
  add("grids", Recurrent(8, 16, 1, 3), 64);
  add("recursion", Rings(), 12).search = "recursive";
  add("pins", Rings(), 6).pin_texts = {"t1=[-, b]"};
  add("pins on many devices", MatmulChain({256, 512}, 256), 256).pin_texts = {"t1=[-, b]"};
  add("a baseline", Rings(), 8).search = "spartan";
  SearchOptions& memory = add("a limit on memory", Rings(), 4);
  memory.replicate = Replicate::kAuto;
  memory.memory_limit = 60'000;
  const Graph small_batch = MatmulChain({48, 64, 32, 16}, 2);  // something moves with replicas too
  add("replicas", small_batch, 8).replicate = Replicate::kAuto;
  add("replicas where tables are too large", small_batch, 8).table_cells = 200;
  ways.back().options.replicate = Replicate::kAuto;
  SearchOptions& unreduced = add("sums that stay apart", Graph(), 4);
  unreduced.replicate = Replicate::kAuto;
  ways.back().graph = SharedGraph(small_batch, unreduced);
  SearchOptions& within = add("sums that stay apart, tables too large", Graph(), 4);
  within.replicate = Replicate::kAuto;
  within.memory_limit = 12'000;
  within.table_cells = 1;
  ways.back().graph = SharedGraph(MatmulChain({64, 48, 32}, 16), within);
  add("replicas on grids", Recurrent(8, 16, 1, 3), 64).replicate = Replicate::kAuto;
  return ways;
}

void CheckEqual(const Plan& a, const Plan& b) {
  CHECK(a.tensors == b.tensors);
  CHECK(a.nodes == b.nodes);
  CHECK(a.lower_bound == b.lower_bound);
  CHECK(a.proof.kind == b.proof.kind);
  CHECK(a.proof.order == b.proof.order);
  CHECK(a.proof.messages == b.proof.messages);
  CHECK(a.proof.prices.size() == b.proof.prices.size());
  CHECK(a.stopped == b.stopped);
}

TEST_CASE("a search stopped anywhere gives a plan that checks, else the whole plan") {
  for (Way& way : Ways()) {
    INFO(way.name);
    const absl::StatusOr<Plan> whole = Search(way.graph, way.options);
    REQUIRE_THAT(whole, IsOk());
    CHECK(whole->stopped.empty());
    REQUIRE_THAT(CheckPlan(way.graph, *whole), IsOk());
    const bool unreduced = way.name.find("apart") != std::string::npos;
    REQUIRE(HasPartials(way.graph) == unreduced);
    const bool bounded = whole->lower_bound > 0 && way.options.search == "default";
    int stops = 0;
    bool finished = false;
    for (int allowed = 1; !finished; allowed *= TriesAll() ? 2 : 3) {
      INFO("stopped at look " << allowed);
      REQUIRE(allowed < 1 << 24);
      int looks = 0;
      way.options.asked = [&] { return ++looks > allowed; };
      const absl::StatusOr<Plan> plan = Search(way.graph, way.options);
      finished = looks <= allowed;
      if (finished) {
        REQUIRE_THAT(plan, IsOk());
        CheckEqual(*plan, *whole);
        break;
      }
      ++stops;
      if (!plan.ok()) {  // there is no plan within a limit until one is found
        CHECK(way.options.memory_limit > 0);
        CHECK_THAT(plan, StatusIs(absl::StatusCode::kCancelled));
        continue;
      }
      CHECK(plan->stopped == kInterrupt);
      CHECK_THAT(CheckPlan(way.graph, *plan), IsOk());
      if (whole->lower_bound == whole->cost.bytes()) {
        CHECK(plan->cost.bytes() >= whole->cost.bytes());
        CHECK(plan->lower_bound <= whole->cost.bytes());
      }
      if (bounded) CHECK(plan->lower_bound > 0);
    }
    CHECK(stops > 2);
  }
}

TEST_CASE("a time limit that is over at once leaves a plan, one that is not struck no trace") {
  for (Way& way : Ways()) {
    INFO(way.name);
    const absl::StatusOr<Plan> whole = Search(way.graph, way.options);
    REQUIRE_THAT(whole, IsOk());
    way.options.time_limit = 1e-9;
    const absl::StatusOr<Plan> plan = Search(way.graph, way.options);
    if (way.options.memory_limit == 0) {
      REQUIRE_THAT(plan, IsOk());
      CHECK(plan->stopped == kTimeLimit);
      CHECK_THAT(CheckPlan(way.graph, *plan), IsOk());
    } else if (!plan.ok()) {
      CHECK_THAT(plan, StatusIs(absl::StatusCode::kDeadlineExceeded));
    }
    way.options.time_limit = 1e6;
    CheckEqual(*Search(way.graph, way.options), *whole);
  }
}

TEST_CASE("a search within a limit that is stopped gives what fits of what it knew") {
  const Graph graph = MatmulChain({1024, 512, 16}, 128);
  SearchOptions options;
  options.mesh = MeshOf(8);
  const int64_t least = Search(graph, options)->cost.bytes();
  options.search = "recursive";
  REQUIRE(Search(graph, options)->cost.bytes() > least);
  options.search = "default";
  options.memory_limit = 1'000'000'000;  // more than the rows of any plan need
  options.memory_of = [&](const Graph&, const Plan& plan) {
    return options.memory_limit + (plan.cost.bytes() <= least ? 1 : 0);
  };
  bool finished = false;
  int stops = 0;
  for (int allowed = 1; !finished; allowed += 1 + allowed / 8) {
    int looks = 0;
    options.asked = [&] { return ++looks > allowed; };
    const absl::StatusOr<Plan> plan = Search(graph, options);
    finished = looks <= allowed;
    REQUIRE_THAT(plan, IsOk());
    CHECK(plan->cost.bytes() > least);
    CHECK_THAT(CheckPlan(graph, *plan), IsOk());
    ++stops;
  }
  CHECK(stops > 2);
}

TEST_CASE("without time left replicas cost no more than data parallelism") {
  const Graph graph = Rings();
  SearchOptions options;
  options.mesh = MeshOf(8);
  options.search = "data";
  const int64_t data = Search(graph, options)->cost.bytes();
  options.search = "default";
  options.replicate = Replicate::kAuto;
  options.time_limit = 1e-9;
  CHECK(Search(graph, options)->cost.bytes() <= data);
}

TEST_CASE("whoever asks for the end before the search begins gets no plan") {
  Way way = Ways()[0];
  way.options.asked = [] { return true; };
  CHECK_THAT(Search(way.graph, way.options),
             StatusIs(absl::StatusCode::kCancelled, "interrupted before there was a plan"));
}

TEST_CASE("any number of threads finds the same plan") {
  for (Way& way : Ways()) {
    INFO(way.name);
    const absl::StatusOr<Plan> alone = Search(way.graph, way.options);
    REQUIRE_THAT(alone, IsOk());
    for (const int threads : {2, 5}) {
      way.options.threads = threads;
      const absl::StatusOr<Plan> plan = Search(way.graph, way.options);
      REQUIRE_THAT(plan, IsOk());
      CheckEqual(*plan, *alone);
    }
  }
}

TEST_CASE("threads that are stopped leave a plan that checks") {
  for (Way& way : Ways()) {
    INFO(way.name);
    way.options.threads = 3;
    for (int allowed = 1; allowed < 1 << 12; allowed *= 4) {
      std::atomic<int> looks{0};
      way.options.asked = [&] { return ++looks > allowed; };
      const absl::StatusOr<Plan> plan = Search(way.graph, way.options);
      if (plan.ok()) CHECK_THAT(CheckPlan(way.graph, *plan), IsOk());
    }
  }
}

TEST_CASE("a parallel loop does each piece once, loops within it too") {
  std::vector<std::atomic<int>> done(60 * 7);
  ParallelFor(4, 60, [&](int64_t i) { ParallelFor(4, 7, [&](int64_t j) { ++done[i * 7 + j]; }); });
  for (const std::atomic<int>& count : done) REQUIRE(count == 1);
  ParallelFor(4, 0, [](int64_t) { FAIL(); });
}

TEST_CASE("an error of a piece ends a parallel loop and is thrown on") {
  const auto fail = [](int64_t i) {
    if (i == 5) throw std::runtime_error("piece 5");
  };
  for (const int threads : {1, 4}) {
    CHECK_THROWS_WITH(ParallelFor(threads, 100, fail), "piece 5");
    std::atomic<int> again{0};
    ParallelFor(threads, 10, [&](int64_t) { ++again; });
    CHECK(again == 10);
  }
}

}  // namespace
}  // namespace yuba::search
