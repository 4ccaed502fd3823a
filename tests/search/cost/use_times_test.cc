// Times by closed forms against what each device receives, box by box, over all choices.

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "search/cost/use_costs.h"
#include "search/plan/use_boxes.h"
#include "search/space/domain.h"
#include "tests/search/cost/uses.h"
#include "tests/support/kinds.h"
#include "tests/support/machines.h"

namespace yuba::search {
namespace {

std::vector<Choice> AllChoices(const ChoiceSpace& space, const Mesh& mesh) {
  std::vector<int> axes(mesh.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  return LegalChoices(space, mesh, axes, WholeChoice(space), Nesting::kFree);
}

size_t PlaceOf(const Choice& choice, const std::vector<Grid>& grids, const Mesh& mesh) {
  const auto place = std::find(grids.begin(), grids.end(), GridOf(choice, mesh));
  REQUIRE(place != grids.end());
  return place - grids.begin();
}

struct Totals {
  int64_t pairs = 0, wrong = 0, grids = 0, too_high = 0, tight = 0;
};

void CompareUse(const Node& node, int o, const Mesh& mesh, const Objective& objective,
                bool replicated, Totals& totals) {
  const Definition& definition = *node.definition;
  const TensorType& type = o < 0 ? definition.result : definition.operands[o];
  ChoiceSpace space = SpaceOfTensor(type);
  space.optional = replicated;
  const std::vector<Grid> grids = AllGrids(space, mesh);
  const std::vector<Grid> node_grids = AllGrids(SpaceOfNode(definition), mesh);
  UseCosts costs(definition, o, mesh, 1, objective);
  const std::vector<int64_t> relaxed = costs.Relaxed(grids, node_grids);
  std::vector<int64_t> least(relaxed.size(), std::numeric_limits<int64_t>::max());
  int64_t steps = 0;
  for (const Choice& of_node : AllChoices(SpaceOfNode(definition), mesh)) {
    const NodeBoxes boxes = AnalyzeNode(definition, of_node, mesh);
    for (const Choice& of_tensor : AllChoices(space, mesh)) {
      const int64_t time = objective.Exchange(MovedByUse(definition, o, mesh, of_tensor, boxes));
      const int64_t exact = costs.Exact(of_tensor, of_node, &steps);
      ++totals.pairs;
      totals.wrong += exact != time;
      int64_t& cell = least[PlaceOf(of_tensor, grids, mesh) * node_grids.size() +
                            PlaceOf(of_node, node_grids, mesh)];
      cell = std::min(cell, time);
    }
  }
  for (size_t i = 0; i < least.size(); ++i) {
    ++totals.grids;
    totals.too_high += relaxed[i] > least[i];
    totals.tight += relaxed[i] == least[i];
  }
}

Totals Compare(const Graph& graph, const Mesh& mesh, bool replicated = false) {
  REQUIRE(HasKindsOutermostFirst(mesh));
  Totals totals;
  const std::pair<std::vector<double>, std::vector<double>> machines[] = {
      {{0, 0, 0}, {1e9, 1e9, 1e9}},              // bytes alone
      {{0, 0, 0}, {1e9, 1e8, 1e7}},              // outer links are slower
      {{1e-6, 1e-6, 1e-6}, {1e12, 1e12, 1e12}},  // messages alone
      {{2e-9, 3e-8, 4e-7}, {5e8, 7e8, 3e7}}};    // all at once
  for (const auto& [latencies, bandwidths] : machines) {
    const Objective objective(ObjectiveKind::kTime, MachineFor(mesh, latencies, bandwidths));
    for (const Node& node : graph.nodes) {
      for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
        CompareUse(node, o, mesh, objective, replicated, totals);
      }
    }
  }
  CHECK(totals.pairs > 0);
  CHECK(totals.wrong == 0);
  CHECK(totals.too_high == 0);
  return totals;
}

TEST_CASE("times are exact, and grids bound them, on links of one kind") {
  for (const int devices : {2, 3, 4, 6, 8}) {
    CAPTURE(devices);
    const Totals totals = Compare(EvenGraph(), MeshOf(devices), devices <= 4);
    if (devices == 8) CHECK(totals.tight == totals.grids);  // even parts, nothing replicated
    Compare(UnevenGraph(), MeshOf(devices));
    Compare(StrangeReads(), MeshOf(devices), devices == 4);
  }
}

TEST_CASE("times are exact, and grids bound them, on links of several kinds") {
  for (const Mesh& mesh : {MeshOfKinds(4, {1, 0}), MeshOfKinds(8, {1, 0, 0}),
                           MeshOfKinds(8, {2, 1, 0}), MeshOfKinds(12, {1, 1, 0})}) {
    CAPTURE(mesh.devices(), mesh.kinds());
    const Totals totals = Compare(EvenGraph(), mesh, mesh.devices() == 4);
    CHECK(totals.tight > 0);
    Compare(UnevenGraph(), mesh);
    Compare(StrangeReads(), mesh, mesh.devices() == 4);
  }
}

}  // namespace
}  // namespace yuba::search
