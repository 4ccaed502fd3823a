// Tables of times by grids against those of the checker, which has a program of its own for them
// and looks at each pair of grids by itself.

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

#include "search/check/relaxed.h"
#include "search/cost/use_costs.h"
#include "search/model/grid_problem.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/partials.h"
#include "search/space/grid_space.h"
#include "tests/search/cost/uses.h"
#include "tests/support/graphs.h"
#include "tests/support/kinds.h"
#include "tests/support/machines.h"

namespace yuba::search {
namespace {

// Messages and bytes of all kinds of links count, each in its own way.
Space SpaceOfTimes(const Mesh& mesh, bool replicated) {
  const auto machine = MachineFor(mesh, {1.3e-6, 1.7e-5, 2.3e-4}, {9e8, 7e7, 3e6});
  Space space;
  space.objective = Objective(ObjectiveKind::kTime, machine);
  if (replicated) space.replicate = Replicate::kAuto;
  return space;
}

int64_t DifferentCells(const RelaxedTables::Use& use, const CostsByGrid& costs, size_t tensor_grids,
                       size_t node_grids) {
  REQUIRE(use.cost->row_of.size() == node_grids);
  const Factor factor = {{0, 1}, costs.cells, costs.sum};
  int64_t different = 0;
  for (size_t t = 0; t < tensor_grids; ++t) {
    for (size_t n = 0; n < node_grids; ++n) {
      different += use.cost->At(n, t) != CellOf(factor, t, n, node_grids);
    }
  }
  return different;
}

// How many of the tables are sums of terms.
int Compare(const Graph& graph, const Mesh& mesh, bool replicated = false) {
  CAPTURE(mesh.devices(), mesh.kinds(), replicated);
  const Space planned = SpaceOfTimes(mesh, replicated);
  const RelaxedTables checked = *MakeRelaxedTables(graph, mesh, planned);
  auto use = checked.uses.begin();
  int sums = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const std::vector<Grid> node_grids = AllGrids(SpaceOfNode(graph, static_cast<NodeId>(n)), mesh);
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o, ++use) {
      CAPTURE(n, o);
      ChoiceSpace space = SpaceOfTensor(graph, o < 0 ? node.result : node.operands[o]);
      space.optional |= replicated;
      const std::vector<Grid> grids = AllGrids(space, mesh);
      UseCosts costs(*node.definition, o, mesh, TimesOf(graph, static_cast<NodeId>(n)),
                     planned.objective);
      const CostsByGrid by_grid = costs.ByGrid(grids, node_grids);
      sums += by_grid.sum != nullptr;
      CHECK(DifferentCells(*use, by_grid, grids.size(), node_grids.size()) == 0);
    }
  }
  return sums;
}

// Two products that are added up, and one of a product, so that sums stay unreduced.
Graph SumsOfProducts() {
  GraphBuilder builder;
  const TensorId x = builder.Input({24, 16}), w = builder.Parameter({16, 48});
  const TensorId y = builder.Matmul(builder.Matmul(x, w), builder.Parameter({48, 16}));
  const TensorId z = builder.Matmul(x, builder.Parameter({16, 16}));
  return builder.Finish({builder.Relu(builder.Add(y, z))});
}

TEST_CASE("times by grids are those of the checker on links of one kind") {
  for (const int devices : {2, 6, 8, 36}) {
    Compare(EvenGraph(), MeshOf(devices));
    Compare(UnevenGraph(), MeshOf(devices), devices < 8);
    Compare(StrangeReads(), MeshOf(devices), devices < 8);
  }
}

TEST_CASE("times by grids are those of the checker on links of several kinds") {
  for (const Mesh& mesh : {MeshOfKinds(4, {1, 0}), MeshOfKinds(8, {2, 1, 0}),
                           MeshOfKinds(12, {1, 1, 0}), MeshOfKinds(16, {1, 1, 0, 0})}) {
    Compare(EvenGraph(), mesh, mesh.devices() < 16);
    Compare(UnevenGraph(), mesh, mesh.devices() < 16);
    Compare(StrangeReads(), mesh, mesh.devices() < 16);
  }
  Compare(EvenGraph(), MeshOfKinds(64, {2, 2, 1, 1, 0, 0}));
}

// As a sum of two terms no cost is more than as one, and not all of them are lost.
void CompareTerms(const Graph& graph, const Mesh& mesh, bool replicated) {
  const Space planned = SpaceOfTimes(mesh, replicated);
  for (const TensorUse& use : TensorUsesOf(graph, mesh, planned.objective)) {
    CAPTURE(use.node, use.tensor, mesh.devices(), replicated);
    const auto node = static_cast<NodeId>(use.node - graph.tensors.size());
    const std::vector<Grid> node_grids = AllGrids(SpaceOfNode(graph, node), mesh);
    ChoiceSpace space = SpaceOfTensor(graph, use.tensor);
    space.optional |= replicated;
    const std::vector<Grid> grids = AllGrids(space, mesh);
    UseCosts& costs = *use.costs;
    const std::vector<int64_t> whole = costs.Relaxed(grids, node_grids);
    const auto [cells, sum] = costs.SumOfTerms(grids, node_grids);
    const Factor factor = {{0, 1}, cells, sum};
    int64_t more = 0, all = 0, all_of_terms = 0;
    for (size_t t = 0; t < grids.size(); ++t) {
      for (size_t n = 0; n < node_grids.size(); ++n) {
        const int64_t one = whole[t * node_grids.size() + n], both = CellOf(factor, t, n, 0);
        more += both > one;
        all += one;
        all_of_terms += both;
      }
    }
    CHECK(more == 0);
    CHECK((all_of_terms > 0) == (all > 0));
  }
}

TEST_CASE("the terms of times by grids are no more than the times") {
  for (const Mesh& mesh : {MeshOfKinds(4, {1, 0}), MeshOfKinds(8, {2, 1, 0}),
                           MeshOfKinds(12, {1, 1, 0}), MeshOfKinds(16, {1, 1, 0, 0})}) {
    CompareTerms(EvenGraph(), mesh, mesh.devices() < 16);
    CompareTerms(UnevenGraph(), mesh, false);
    CompareTerms(StrangeReads(), mesh, mesh.devices() < 16);
  }
}

TEST_CASE("wide tables are sums of the same terms for the checker") {
  const Mesh mesh = MeshOfKinds(128, {1, 1, 1, 0, 0, 0, 0});
  GraphBuilder product;
  const TensorId x = product.Input({16, 48, 64}), w = product.Parameter({16, 64, 32});
  CHECK(Compare(product.Finish({product.BatchedMatmul(x, w)}), mesh, true) == 3);
  GraphBuilder windows;
  const TensorId image = windows.Input({16, 4, 12, 1}), filter = windows.Parameter({8, 4, 3, 1});
  CHECK(Compare(windows.Finish({windows.Conv(image, filter, 1, 0)}), mesh, true) >= 2);
  GraphBuilder reshaped;
  const TensorId merged = reshaped.Merge(reshaped.Input({8, 6, 16, 64}), 0);
  CHECK(Compare(reshaped.Finish({merged}), mesh, true) >= 1);
}

TEST_CASE("terms have few classes") {
  const Mesh mesh = MeshOfKinds(64, {1, 1, 1, 0, 0, 0});
  GraphBuilder builder;
  const TensorId x = builder.Input({64, 64}), w = builder.Parameter({64, 64});
  const Graph graph = builder.Finish({builder.Matmul(x, w)});
  const Space planned = SpaceOfTimes(mesh, false);
  const std::vector<Grid> nodes = AllGrids(SpaceOfNode(graph, 0), mesh);
  const std::vector<Grid> grids = AllGrids(SpaceOfTensor(graph, x), mesh);
  REQUIRE(nodes.size() == 100);
  REQUIRE(grids.size() == 16);
  for (const int operand : {-1, 0}) {
    UseCosts costs(*graph.nodes[0].definition, operand, mesh, 1, planned.objective);
    const CostsByGrid terms = costs.SumOfTerms(grids, nodes);
    // Parts in two dimensions: 7 of all axes, 4 of outer axes. Nodes that write add up 1 to 64
    // partials.
    const auto& [few_columns, few_rows] = *terms.sum;
    const auto rows_of = [](const ClassTable& table) {
      return 1 + *std::max_element(table.row_of.begin(), table.row_of.end());
    };
    CHECK(rows_of(few_columns) == 16);
    CHECK(rows_of(few_rows) == (operand < 0 ? 7 : 4));
    CHECK(few_columns.columns <= (operand < 0 ? 40 : 28));
  }
}

TEST_CASE("times by grids of sums that stay unreduced are those of the checker") {
  for (const Mesh& mesh : {MeshOf(6), MeshOfKinds(8, {1, 0, 0}), MeshOfKinds(8, {2, 1, 0})}) {
    Compare(WithPartials(SumsOfProducts(), mesh), mesh);
    Compare(WithAccumulators(SumsOfProducts(), mesh), mesh);
  }
}

TEST_CASE("times by grids of random uses are those of the checker") {
  std::mt19937 random(11);
  const auto upto = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    GraphBuilder builder;
    const int64_t window = upto(3), channels = upto(5);
    const TensorId x = builder.Input({upto(6), channels, 3 + upto(6), 3 + upto(6)});
    const TensorId w = builder.Parameter({upto(6), channels, window, window});
    const TensorId y = builder.Conv(x, w, upto(2), upto(window) - 1);
    const TensorId m =
        builder.Matmul(builder.Input({upto(13), 12}), builder.Parameter({12, upto(13)}));
    const TensorId g = builder.ConvGradient(builder.Input({upto(4), 6}),
                                            builder.Parameter({upto(4)}), upto(3), 9 + upto(6));
    const TensorId s = builder.Shift(builder.Slice(m, 0, upto(builder.Dims(m)[0])), upto(3));
    const std::vector<Mesh> meshes = {MeshOf(6), MeshOfKinds(4, {1, 0}), MeshOfKinds(8, {1, 0, 0}),
                                      MeshOfKinds(8, {2, 1, 0}), MeshOfKinds(12, {1, 0, 0})};
    Compare(builder.Finish({y, g, s}), meshes[round % meshes.size()], round % 2 == 0);
  }
}

}  // namespace
}  // namespace yuba::search
