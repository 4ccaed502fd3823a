// Dropping grids that only dear plans have: plans and bounds get no worse, and the bounds are true.

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "search/check/check.h"
#include "search/engines/engine.h"
#include "search/search.h"
#include "search/space/grid_space.h"
#include "tests/support/engines.h"
#include "tests/support/graphs.h"
#include "tests/support/kinds.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

struct Count {
  int gaps = 0, closed = 0, raised = 0, cheaper = 0;
};

// The plan and the bound of the search on grids alone.
Plan OnGrids(const Graph& graph, const SearchOptions& options) {
  return Search(graph, Only(options, {"grids", "axes"})).value();
}

// The same bound, with a dearer plan.
Plan Dear(const Graph& graph, SearchOptions options) {
  Plan plan = OnGrids(graph, options);
  options.search = "all-row";
  const Plan dear = Search(graph, options).value();
  plan.tensors = dear.tensors;
  plan.nodes = dear.nodes;
  plan.cost = dear.cost;
  return plan;
}

// Drops grids with room for `cells` cells, checks what comes out and counts it.
void Keep(const Graph& graph, SearchOptions options, const Plan& before, int64_t cells,
          int64_t optimum, Count* count) {
  options.table_cells = cells;
  const Restrictions none;
  Task task(graph, options, none, Budget::Unlimited());
  Incumbent incumbent(graph, options, none);
  incumbent.Offer({AllChoices(before), before.lower_bound, before.proof});
  if (!incumbent.IsNear()) Prune(task, incumbent);
  const Plan after = incumbent.Take().value();
  CAPTURE(cells, before.cost.bytes(), before.lower_bound, optimum);
  CHECK_THAT(CheckPlan(graph, after), IsOk());
  CHECK(after.lower_bound <= optimum);
  CHECK(after.cost.bytes() >= optimum);
  CHECK(after.lower_bound >= before.lower_bound);
  CHECK(after.cost.bytes() <= before.cost.bytes());
  if (before.cost.bytes() - before.lower_bound <= before.cost.bytes() / 1000) return;
  ++count->gaps;
  count->closed += after.lower_bound == after.cost.bytes();
  count->raised += after.lower_bound > before.lower_bound;
  count->cheaper += after.cost.bytes() < before.cost.bytes();
}

TEST_CASE("with few grids kept, bounds rise and stay below the optimum") {
  const std::vector<Graph> graphs = {Recurrent(64, 32, 2, 4),
                                     Recurrent(3, 5, 2, 4),
                                     ResNet(4, {1, 1}),
                                     ResNet(2, {1}),
                                     Recurrent(16, 20, 1, 4),
                                     Recurrent(7, 24, 2, 3),
                                     MatmulChain({24, 36, 12, 48, 24}, 30)};
  Count much, little, dear;
  for (const Graph& graph : graphs) {
    for (const int devices : {4, 6, 8, 9, 12}) {
      SearchOptions options;
      options.mesh = MeshOf(devices);
      const Plan best = Search(graph, options).value();
      if (best.lower_bound < best.cost.bytes()) continue;
      const Plan plan = OnGrids(graph, options), other = Dear(graph, options);
      Keep(graph, options, plan, options.table_cells, best.cost.bytes(), &much);
      for (const int64_t cells : {60, 118, 132, 166, 300, 3000, 30000}) {
        Keep(graph, options, plan, cells, best.cost.bytes(), &little);
        Keep(graph, options, other, cells, best.cost.bytes(), &little);
      }
      Keep(graph, options, other, options.table_cells, best.cost.bytes(), &dear);
    }
  }
  CAPTURE(much.gaps, much.closed, little.gaps, little.closed, little.raised, dear.gaps, dear.closed,
          dear.cheaper);
  CHECK(much.gaps >= 5);
  CHECK(much.raised == much.gaps);
  CHECK(2 * much.closed > much.gaps);
  CHECK(little.raised > little.closed);
  CHECK(dear.gaps > 20);
  CHECK(4 * dear.closed > 3 * dear.gaps);
  CHECK(dear.cheaper >= dear.closed);
}

TEST_CASE(
    "grids of several kinds of axes are dropped as those of one, and renamings keep to kinds") {
  Count count;
  for (const Graph& graph : {Recurrent(3, 5, 2, 4), MatmulChain({24, 36, 12, 48, 24}, 30)}) {
    for (const Mesh& mesh : {MeshOfKinds(4, {0, 1}), MeshOfKinds(8, {0, 1, 0}),
                             MeshOfKinds(9, {1, 0}), MeshOfKinds(12, {0, 1, 0})}) {
      SearchOptions options;
      options.mesh = mesh;
      const Plan best = Search(graph, options).value();
      if (best.lower_bound < best.cost.bytes()) continue;
      const Plan plan = OnGrids(graph, options), other = Dear(graph, options);
      for (const int64_t cells : {60, 166, 3000, 30000, 1 << 22}) {
        Keep(graph, options, plan, cells, best.cost.bytes(), &count);
        Keep(graph, options, other, cells, best.cost.bytes(), &count);
      }
    }
  }
  CAPTURE(count.gaps, count.closed, count.raised, count.cheaper);
  CHECK(count.closed > 10);
}

TEST_CASE("gaps of a few bytes with room for few cells come to an end") {
  Count count;
  for (const int64_t width : {2, 3, 4, 5, 6}) {
    const Graph graph = Recurrent(2, width, 1, 3);
    SearchOptions options;
    options.mesh = MeshOf(2);
    const Plan best = Search(graph, options).value(), dear = Dear(graph, options);
    for (const int64_t cells : {20, 60, 100, 150, 200, 300}) {
      Keep(graph, options, dear, cells, best.cost.bytes(), &count);
    }
  }
  CHECK(count.gaps > 0);
}

TEST_CASE("proofs on grids that are none are refused") {
  const Graph graph = Recurrent(3, 5, 1, 2);
  SearchOptions options;
  options.mesh = MeshOf(4);
  Plan plan = Search(graph, options).value();
  REQUIRE(plan.proof.kind == ProofKind::kElimination);
  plan.proof.kind = ProofKind::kGrids;
  plan.proof.sweep = plan.proof.order;
  REQUIRE_THAT(CheckPlan(graph, plan), IsOk());
  const auto refused = [&](const std::function<void(Plan*)>& change) {
    Plan bent = plan;
    change(&bent);
    return std::string(CheckPlan(graph, bent).message());
  };
  CHECK(refused([](Plan* bent) { bent->proof.sweep.clear(); }) == "the proof leaves out element 0");
  CHECK(refused([](Plan* bent) {
          bent->proof.sweep[1] = bent->proof.sweep[0];
        }).find("which is none or comes twice") != std::string::npos);
  CHECK(refused([](Plan* bent) {
          bent->proof.plain = 1000;
        }).find("the proof eliminates 1000 elements plainly") == 0);
  CHECK(refused([](Plan* bent) { bent->lower_bound = -1; }) == "the lower bound of -1 is negative");
}

TEST_CASE("a block of too many choices is refused before it is made") {
  GraphBuilder b;
  const TensorId x = b.Input({64});
  std::vector<TensorId> outputs;
  for (int reader = 0; reader < 16; ++reader) outputs.push_back(b.Relu(x));
  const Graph graph = b.Finish(outputs);
  SearchOptions options;
  options.mesh = MeshOf(64);
  Plan plan = Search(graph, options).value();
  plan.proof = Proof();
  plan.proof.kind = ProofKind::kGrids;
  for (size_t e = 0; e < graph.tensors.size() + graph.nodes.size(); ++e) {
    plan.proof.order.push_back(static_cast<int>(e));
  }
  plan.proof.sweep = plan.proof.order;
  std::reverse(plan.tensors[x].axes[0].begin(), plan.tensors[x].axes[0].end());
  plan.cost = CostOf(graph, plan);
  REQUIRE(plan.cost.bytes() > 0);
  plan.lower_bound = plan.cost.bytes();
  CHECK(CheckPlan(graph, plan).message() == "the proof keeps too many cells");
}

TEST_CASE("the choices of a grid are counted") {
  const ChoiceSpace space = SpaceOfTensor(TensorType{ElementType::kF32, {8, 6, 5}});
  for (const Mesh& mesh : {MeshOf(2), MeshOf(6), MeshOf(8), MeshOf(12), MeshOf(24),
                           MeshOfKinds(8, {0, 1, 0}), MeshOfKinds(24, {0, 2, 0, 1})}) {
    for (const Nesting nesting : {Nesting::kFree, Nesting::kLevel}) {
      std::vector<int> axes;
      for (size_t axis = 0; axis < mesh.axes.size(); ++axis) axes.push_back(static_cast<int>(axis));
      Choice whole;
      whole.axes.resize(3);
      const std::vector<Choice> choices = LegalChoices(space, mesh, axes, whole, nesting);
      for (const Grid& grid : AllGrids(space, mesh)) {
        int64_t count = 0;
        for (const Choice& choice : choices) count += GridOf(choice, mesh) == grid;
        CAPTURE(mesh.devices(), grid);
        CHECK(count == CountChoicesOfGrid(grid, mesh, nesting == Nesting::kLevel));
      }
    }
  }
}

}  // namespace
}  // namespace yuba::search
