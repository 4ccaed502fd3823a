// Searches on grids: axes for the grids of the bound, and starts from the plan without copies.
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "search/axes/axis_problem.h"
#include "search/axes/axis_search.h"
#include "search/check/check.h"
#include "search/cost/table_cache.h"
#include "search/model/grid_bound.h"
#include "search/model/grid_counts.h"
#include "search/rewrite/copies.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/kinds.h"
#include "tests/support/machines.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// Blocks of layers of which each reads all before it, as in a DenseNet.
Graph Dense(const std::vector<int>& blocks, int64_t growth, int64_t rows) {
  GraphBuilder b;
  TensorId x = b.Input({4, 2 * growth, rows, rows});
  for (const int layers : blocks) {
    for (int layer = 0; layer < layers; ++layer) {
      TensorId y = b.Conv(b.Relu(x), b.Parameter({4 * growth, b.Dims(x)[1], 1, 1}));
      y = b.Conv(b.Relu(y), b.Parameter({growth, 4 * growth, 3, 3}), 1, 1);
      x = b.Concat(x, y);
    }
    x = b.Conv(x, b.Parameter({b.Dims(x)[1] / 2, b.Dims(x)[1], 1, 1}));
  }
  return b.Finish({x});
}

Plan PlanOf(const Graph& graph, int devices) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  const Plan plan = Search(graph, options).value();
  CHECK_THAT(CheckPlan(graph, plan), IsOk());
  return plan;
}

TEST_CASE("axes are assigned first to the grids of the bound") {
  for (const Graph& graph : {Recurrent(64, 32, 2, 4), Dense({4}, 16, 4), ResNet(4, {1, 1})}) {
    const Mesh mesh = MeshOf(16);
    const std::vector<TensorUse> uses = TensorUsesOf(graph, mesh);
    const LowerBound bound = DualBound(graph, mesh, uses);
    ChoiceStore store(mesh);
    const AxisProblem problem = MakeAxisProblem(graph, uses, bound.grids, &store);
    for (const bool likeliest_grids : {true, false}) {
      AxisSearch search(problem, mesh, Nesting::kFree, Budget::Unlimited(), &store);
      search.Start(likeliest_grids);
      int others = 0;
      for (size_t v = 0; v < problem.variables.size(); ++v) {
        others += GridOf(store.at(search.choices()[v]), mesh) != problem.variables[v].grids[0];
      }
      CHECK((others == 0) == likeliest_grids);
      search.Descend();
      CHECK(PlanOf(graph, 16).cost.bytes() <= search.Cost());
    }
  }
}

TEST_CASE("tables that are known, or of which more is known, are taken from there") {
  const Graph graph = WithCopies(Dense({4}, 16, 4));
  const Mesh mesh = MeshOf(12);
  TableCache known;
  BuildGridProblem(graph, mesh, TensorUsesOf(graph, mesh), false, Budget::Unlimited(), &known);
  const Graph bare = WithoutCopies(graph).graph;
  const std::vector<TensorUse> uses = TensorUsesOf(bare, mesh);
  int found = 0;
  const GridProblem with = *BuildGridProblem(bare, mesh, uses, false, Budget::Unlimited(), &known);
  const GridProblem without = *BuildGridProblem(bare, mesh, uses, false);
  for (size_t f = 0; f < uses.size(); ++f) {
    CHECK(*with.pairwise.factors[f].cells == *without.pairwise.factors[f].cells);
    found +=
        known
            .Find(uses[f].costs->Key(), false, with.grids[uses[f].tensor], with.grids[uses[f].node])
            .cells != nullptr;
  }
  CHECK(found == static_cast<int>(uses.size()));
  const LowerBound bound = DualBound(bare, mesh, uses, Budget::Unlimited(),
                                     std::numeric_limits<double>::infinity(), &known);
  CHECK(bound.bytes == DualBound(bare, mesh, uses).bytes);
}

TEST_CASE("of the likely grids the first are a good choice together") {
  const Graph graph = Dense({4, 4}, 16, 4);
  for (const int devices : {6, 24, 48, 60, 96}) {
    const Mesh mesh = MeshOf(devices);
    const std::vector<TensorUse> uses = TensorUsesOf(graph, mesh);
    const LowerBound bound = DualBound(graph, mesh, uses);
    std::vector<Grid> chosen;
    for (const std::vector<Grid>& grids : bound.grids) chosen.push_back(grids[0]);
    const auto cost_around = [&](int element) {
      int64_t cost = 0;
      for (const TensorUse& use : uses) {
        if (use.tensor != element && use.node != element) continue;
        cost += use.costs->Relaxed({chosen[use.tensor]}, {chosen[use.node]})[0];
      }
      return cost;
    };
    for (size_t e = 0; e < chosen.size(); ++e) {
      const Grid first = chosen[e];
      const int64_t cost = cost_around(static_cast<int>(e));
      for (const Grid& other : bound.grids[e]) {
        chosen[e] = other;
        INFO(devices << " devices, element " << e);
        CHECK(cost_around(static_cast<int>(e)) >= cost);
      }
      chosen[e] = first;
    }
  }
}

TEST_CASE("a bound that is stopped while costs are counted is one of those that are known") {
  const Graph graph = ResNet(4, {1, 1});
  const Mesh mesh = MeshOf(48);
  const std::vector<TensorUse> uses = TensorUsesOf(graph, mesh);
  const int64_t whole = DualBound(graph, mesh, uses).bytes;
  int partial = 0;
  for (int allowed = 1; allowed < 100'000; allowed *= 2) {
    int looks = 0;
    const Budget budget(0, 1, [&] { return ++looks > allowed; });
    const absl::optional<GridProblem> built = BuildGridProblem(graph, mesh, uses, false, budget);
    if (!built.has_value() || built->complete) continue;
    looks = 0;
    const Budget again(0, 1, [&] { return ++looks > allowed; });
    const LowerBound bound = DualBound(graph, mesh, uses, again);
    CHECK(bound.bytes <= whole);
    partial += bound.bytes > 0;
    Plan plan = PlanOf(graph, 48);
    plan.lower_bound = plan.asked_bound = bound.bytes;
    plan.proof = bound.proof;
    CHECK_THAT(CheckPlan(graph, plan), IsOk());
  }
  CHECK(partial > 0);
}

TEST_CASE("with copies no plan costs more than without") {
  int grids = 0;
  for (const int devices : {12, 16, 24}) {
    for (const auto& blocks : std::vector<std::vector<int>>{{4}, {6, 4}}) {
      const Graph graph = Dense(blocks, 16, 4);
      const Plan without = PlanOf(graph, devices), with = PlanOf(WithCopies(graph), devices);
      INFO(blocks.size() << " blocks on " << devices);
      CHECK(with.cost.bytes() <= without.cost.bytes());
      grids += with.proof.kind == ProofKind::kDual;
    }
  }
  CHECK(grids > 0);
}

TEST_CASE("where there are too many grids the plan has no bound") {
  // Seven dimensions over 32 groups of 8 devices: 38,000 grids of each, 1.5 * 10^9 pairs.
  GraphBuilder b;
  const std::vector<int64_t> dims(7, 64);
  const TensorId x = b.Input(dims);
  const Graph graph = b.Finish({b.Relu(x)});
  const Mesh mesh = MeshOfKinds(256, {1, 1, 1, 1, 1, 0, 0, 0});
  SearchOptions options;
  options.mesh = mesh;
  const std::vector<TensorUse> uses = TensorUsesOf(graph, mesh);
  CHECK(HasTooManyGrids(graph, mesh, uses, false));
  CHECK_FALSE(BuildGridProblem(graph, mesh, uses, false).has_value());
  CHECK_FALSE(HasTooManyGrids(graph, MeshOf(256), TensorUsesOf(graph, MeshOf(256)), false));
  const Plan plan = Search(graph, options).value();
  CHECK_THAT(CheckPlan(graph, plan), IsOk());
  CHECK(plan.lower_bound == 0);
}

TEST_CASE("of sums of terms the classes of grids are counted") {
  GraphBuilder b;
  const TensorId x = b.Input(std::vector<int64_t>(7, 64));
  const Graph graph = b.Finish({b.Relu(x)});
  const auto has_too_many = [&](const Mesh& mesh) {
    const Objective time(ObjectiveKind::kTime, MachineFor(mesh, {1e-6, 1e-5}, {1e9, 1e8}));
    return HasTooManyGrids(graph, mesh, TensorUsesOf(graph, mesh, time), false);
  };
  // Of the 38,000 grids above 3,003 by parts and 462 by outer parts: 1.3 * 10^8 cells a use.
  CHECK_FALSE(has_too_many(MeshOfKinds(256, {1, 1, 1, 1, 1, 0, 0, 0})));
  // 850,000 grids, 18,564 by parts.
  CHECK(has_too_many(MeshOfKinds(4096, {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0})));
}

}  // namespace
}  // namespace yuba::search
