// Costs by closed forms against the one definition of communication, over all choices.

#include "search/cost/use_costs.h"

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "opsemantics/base/transfers.h"
#include "search/check/relaxed.h"
#include "search/space/domain.h"
#include "tests/search/cost/uses.h"
#include "tests/support/graphs.h"
#include "tests/support/kinds.h"

namespace yuba::search {
namespace {

std::vector<Choice> AllChoices(const ChoiceSpace& space, const Mesh& mesh, bool replicated) {
  std::vector<int> axes(mesh.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::vector<Choice> choices = LegalChoices(space, mesh, axes, WholeChoice(space), Nesting::kFree);
  if (!replicated) return choices;
  std::vector<Choice> all;
  std::map<std::vector<AxisList>, bool> seen;
  for (const Choice& choice : choices) {
    for (unsigned kept = 0; kept < 1u << axes.size(); ++kept) {
      std::vector<int> some;
      for (int axis : axes) {
        if (kept >> axis & 1) some.push_back(axis);
      }
      Choice restricted = Restrict(choice, some);
      if (seen.emplace(restricted.axes, true).second) all.push_back(restricted);
    }
  }
  return all;
}

struct Totals {
  int64_t pairs = 0, wrong = 0, too_high = 0, grids = 0, tight = 0;
};

// Bytes of a reduction: the first owners' results move to the other owners in the tensor's type.
int64_t ReducedBytes(const NodeBoxes& at, const std::vector<Box>& have, ElementType type) {
  const int64_t moved = ReduceVolume({at.writes, at.partial, at.partials}, have);
  if (at.partials == 1) return moved * ByteSize(type);
  const int64_t results = GatherVolume(FirstOwnerBoxes(have), have);
  return (moved - results) * ByteSize(AccumulatorType(type)) + results * ByteSize(type);
}

int64_t Bytes(const Mesh& mesh, const TensorType& type, const Choice& choice, const NodeBoxes& at,
              int o) {
  std::vector<Box> have;
  for (int device = 0; device < mesh.devices(); ++device) {
    have.push_back(ShardBox(mesh, choice, type.dims, device));
  }
  if (o < 0) return ReducedBytes(at, have, type.type);
  std::vector<Box> read;
  for (const std::vector<Box>& reads : at.reads) read.push_back(reads[o]);
  return GatherVolume(have, read) * ByteSize(type.type);
}

// The checker computes its table by a program of its own, which must say the same.
void CompareWithChecker(const RelaxedTables::Use& use, const std::vector<int64_t>& relaxed,
                        size_t tensor_grids, size_t node_grids) {
  REQUIRE(use.cost->row_of.size() == node_grids);
  int64_t different = 0;
  for (size_t t = 0; t < tensor_grids; ++t) {
    for (size_t n = 0; n < node_grids; ++n) {
      different += use.cost->At(n, t) != relaxed[t * node_grids + n];
    }
  }
  CHECK(different == 0);
}

Totals Compare(const Graph& graph, const Mesh& mesh, bool replicated) {
  Totals totals;
  int64_t steps = 0;
  Space planned;
  if (replicated) planned.replicate = Replicate::kAuto;
  RelaxedTables checked = *MakeRelaxedTables(graph, mesh, planned);
  auto use = checked.uses.begin();
  // The search computes one table for all uses of equal keys: so they must be equal.
  std::map<std::tuple<CostKey, std::vector<Grid>, std::vector<Grid>>, std::vector<int64_t>> by_key;
  for (const Node& node : graph.nodes) {
    std::vector<Choice> node_choices = AllChoices(SpaceOfNode(*node.definition), mesh, false);
    std::vector<Grid> node_grids = AllGrids(SpaceOfNode(*node.definition), mesh);
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
      const TensorType& type = graph.tensors[o < 0 ? node.result : node.operands[o]].type;
      std::vector<Choice> choices = AllChoices(SpaceOfTensor(type), mesh, replicated);
      ChoiceSpace space = SpaceOfTensor(type);
      space.optional = replicated;
      std::vector<Grid> grids = AllGrids(space, mesh);
      UseCosts costs(*node.definition, o, mesh);
      std::vector<int64_t> relaxed = costs.Relaxed(grids, node_grids);
      const auto alike =
          by_key.emplace(std::make_tuple(costs.Key(), grids, node_grids), relaxed).first;
      CHECK(alike->second == relaxed);
      CompareWithChecker(*use++, relaxed, grids.size(), node_grids.size());
      std::vector<int64_t> least(relaxed.size(), std::numeric_limits<int64_t>::max());
      for (const Choice& node_choice : node_choices) {
        NodeBoxes at = AnalyzeNode(*node.definition, node_choice, mesh);
        auto column = std::find(node_grids.begin(), node_grids.end(), GridOf(node_choice, mesh));
        REQUIRE(column != node_grids.end());
        for (const Choice& choice : choices) {
          auto row = std::find(grids.begin(), grids.end(), GridOf(choice, mesh));
          REQUIRE(row != grids.end());
          int64_t bytes = Bytes(mesh, type, choice, at, o);
          ++totals.pairs;
          totals.wrong += costs.Exact(choice, node_choice, &steps) != bytes;
          int64_t& cell =
              least[(row - grids.begin()) * node_grids.size() + (column - node_grids.begin())];
          cell = std::min(cell, bytes);
        }
      }
      for (size_t i = 0; i < least.size(); ++i) {
        ++totals.grids;
        REQUIRE(least[i] < std::numeric_limits<int64_t>::max());  // each grid has a choice
        totals.too_high += relaxed[i] > least[i];
        totals.tight += relaxed[i] == least[i];
      }
    }
  }
  CHECK(totals.pairs > 0);
  CHECK(totals.wrong == 0);
  CHECK(totals.too_high == 0);
  return totals;
}

TEST_CASE("closed forms are exact on even extents, whatever the axes") {
  for (int devices : {2, 4, 8}) {
    CAPTURE(devices);
    Totals totals = Compare(EvenGraph(), MeshOf(devices), false);
    CHECK(totals.tight == totals.grids);
  }
}

TEST_CASE("on axes of several kinds closed forms know that no axis is one of another kind") {
  for (const Mesh& mesh : {MeshOfKinds(4, {0, 1}), MeshOfKinds(8, {0, 0, 1}),
                           MeshOfKinds(8, {1, 0, 2}), MeshOfKinds(16, {0, 1, 0, 1})}) {
    CAPTURE(mesh.devices(), mesh.kinds());
    const Totals totals = Compare(EvenGraph(), mesh, false);
    CHECK(totals.tight == totals.grids);
  }
  for (const Mesh& mesh :
       {MeshOfKinds(4, {0, 1}), MeshOfKinds(8, {0, 0, 1}), MeshOfKinds(12, {0, 1, 0})}) {
    CAPTURE(mesh.devices(), mesh.kinds());
    Compare(UnevenGraph(), mesh, mesh.devices() == 4);
    Compare(StrangeReads(), mesh, mesh.devices() == 4);
  }
}

TEST_CASE("uses on axes of other kinds share no table") {
  const Graph graph = EvenGraph();
  const auto key = [&](const std::vector<int>& kinds) {
    return UseCosts(*graph.nodes[0].definition, 0, MeshOfKinds(4, kinds)).Key();
  };
  CHECK(key({0, 1}) == key({0, 1}));
  CHECK(key({0, 1}) != key({1, 0}));
  CHECK(key({0, 1}) != key({}));
}

TEST_CASE("closed forms are bounds where no axes in common cut two dimensions in one way") {
  GraphBuilder builder;  // x, replicated in 3 x 3 parts, is read in 2 x 2
  const TensorId x = builder.Input({6, 6});
  const TensorId y = builder.Matmul(x, builder.Parameter({6, 9}));
  const Totals totals = Compare(builder.Finish({y}), MeshOf(36), true);
  CHECK(totals.tight > 0);
}

TEST_CASE("closed forms are bounds where parts are uneven, windows reach out, and axes differ") {
  for (int devices : {2, 3, 4, 6, 8, 12}) {
    CAPTURE(devices);
    Totals totals = Compare(UnevenGraph(), MeshOf(devices), false);
    CHECK(totals.tight * 10 >= totals.grids * 4);
    totals = Compare(StrangeReads(), MeshOf(devices), false);
  }
}

TEST_CASE("closed forms are bounds of random uses") {
  std::mt19937 random(7);
  auto upto = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
  for (int devices : {2, 3, 4, 6, 8, 12}) {
    for (int round = 0; round < 3; ++round) {
      CAPTURE(devices, round);
      GraphBuilder builder;
      int64_t window = upto(3), channels = upto(5);
      TensorId x = builder.Input({upto(6), channels, 3 + upto(6), 3 + upto(6)});
      TensorId w = builder.Parameter({upto(6), channels, window, window});
      TensorId y = builder.Conv(x, w, upto(2), upto(window) - 1);
      TensorId m = builder.Matmul(builder.Input({upto(13), 12}), builder.Parameter({12, upto(13)}));
      TensorId g = builder.ConvGradient(builder.Input({upto(4), 6}), builder.Parameter({upto(4)}),
                                        upto(3), 9 + upto(6));
      TensorId s = builder.Shift(builder.Slice(m, 0, upto(builder.Dims(m)[0])), upto(3));
      Compare(builder.Finish({y, g, s}), MeshOfRandomKinds(devices, 1 + round % 2, random), false);
    }
  }
}

TEST_CASE("closed forms are bounds of copies, which leave axes out") {
  for (int devices : {2, 4, 6}) {
    CAPTURE(devices);
    Compare(EvenGraph(), MeshOf(devices), true);
    Compare(UnevenGraph(), MeshOf(devices), true);
    Compare(StrangeReads(), MeshOf(devices), true);
  }
}

}  // namespace
}  // namespace yuba::search
