// The checker's tables of costs by grids, against the same formula written down cell by cell:
// nothing is numbered, shared or remembered.

#include "search/check/relaxed.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "search/check/crossing.h"
#include "search/check/overlap.h"
#include "search/check/part_counts.h"
#include "search/check/reads.h"
#include "search/plan/memory_price.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/partials.h"
#include "tests/support/graphs.h"
#include "tests/support/kinds.h"
#include "tests/support/machines.h"
#include "tests/support/random_graphs.h"

namespace yuba::search {
namespace {

// One use, with a grid of its node and one of its tensor.
struct Cell {
  const Mesh& mesh;
  const Objective& objective;
  const Definition& definition;
  const int operand;
  const Grid &node, &tensor;

  bool result() const { return operand < 0; }
  const TensorType& type() const {
    return result() ? definition.result : definition.operands[operand];
  }
  // Into how many parts indices are cut by axes of that kind; of a kind below 0 by all axes.
  int64_t Parts(int kind, bool reductions_only, const std::vector<bool>& but) const {
    int64_t parts = 1;
    for (size_t i = 0; i < definition.indices.size(); ++i) {
      if (but[i] || (reductions_only && !definition.indices[i].reduction)) continue;
      parts *= kind < 0 ? PartsOf(node)[i] : node[kind][i];
    }
    return parts;
  }
};

// No plan has the two grids: groups that share partials cut them in another way.
bool IsNever(const Cell& cell) {
  if (cell.result() || !ReadsPartials(cell.definition, cell.operand)) return false;
  if (CombinesPartials(cell.definition)) return false;
  for (size_t kind = 0; kind < cell.node.size(); ++kind) {
    const std::vector<int>& cut = cell.node[kind];
    if (Product(cell.tensor[kind]) != Product(cut) / cut.back()) return true;
  }
  return false;
}

int64_t CostOf(const Cell& cell) {
  if (IsNever(cell)) return kNever;
  const Definition& definition = cell.definition;
  const TensorType& type = cell.type();
  const int64_t devices = cell.mesh.devices(), elements = ElementCount(type);
  std::vector<bool> in_factor(definition.indices.size(), false);
  const bool sums = cell.result() && cell.Parts(-1, true, in_factor) > 1;
  const BoxFactors boxes(definition, cell.operand, sums);
  const size_t count = type.dims.empty() ? 0 : boxes.factors().size();
  std::vector<OverlapBound> shared(count);
  std::vector<FactorReach> reach(count);
  Large held = cell.result() ? cell.Parts(-1, false, in_factor) : devices, pieces = 1;
  for (size_t f = 0; f < count; ++f) {
    const BoxFactor& factor = boxes.factors()[f];
    std::vector<int64_t> extents;
    for (const int d : factor.dims) extents.push_back(type.dims[d]);
    for (const int i : factor.indices) in_factor[i] = true;
    const Grid cut = GridAlong(cell.node, factor.indices);
    const Grid shards = GridAlong(cell.tensor, factor.dims);
    const FactorParts parts = FactorPartsOf(definition, boxes, static_cast<int>(f), cut);
    shared[f] = OverlapBoundOf(extents, shards, parts);
    reach[f] = cell.result()
                   ? ReachOfReduction(definition, factor, extents, shards, parts, cut, sums)
                   : ReachOfGather(extents, shards, parts);
    held *= parts.volume;
    pieces *= parts.number;
  }
  held /= pieces;
  std::vector<const OverlapBound*> bounds;
  std::vector<const FactorReach*> reaches;
  for (size_t f = 0; f < count; ++f) {
    bounds.push_back(&shared[f]);
    reaches.push_back(&reach[f]);
  }
  const bool of_partials =
      cell.result() ? definition.partial : ReadsPartials(definition, cell.operand);
  const OwnersReach owners = OwnersReachOf(cell.mesh, cell.tensor);
  int64_t kept = MostShared(devices, bounds);
  if (sums && !definition.partial) kept = std::min(kept, elements);
  LeastMoved least;
  least.bytes[0] = static_cast<int64_t>(
      std::max<Large>(0, MovedBytes(definition, cell.operand, sums, held, kept, type, owners.all)));
  least.messages[0] = devices;
  if (!cell.objective.IsTime() || least.bytes[0] == 0) return least.bytes[0];
  UseReach use;
  use.devices = devices;
  use.owners = &owners;
  std::vector<int64_t> repeated;
  for (size_t kind = 0; kind < cell.node.size(); ++kind) {
    repeated.push_back(sums ? cell.Parts(static_cast<int>(kind), true, in_factor) : 1);
  }
  use.repeated = repeated;
  use.sums = sums;
  use.arriving = static_cast<int64_t>(held) * (cell.result() ? owners.all : 1);
  use.size = ByteSize(sums ? AccumulatorType(type.type) : type.type);
  use.elements = elements;
  use.result_size = ByteSize(type.type);
  if (!of_partials) AddCrossing(use, reaches, LinkTerm::kAll, &least);
  return cell.objective.LeastExchange(least, devices);
}

struct Counts {
  int64_t cells = 0, wrong = 0, never = 0, rows = 0, grids = 0;
};

void Compare(const Graph& graph, const Mesh& mesh, const Space& space, Counts& counts) {
  const bool replicate = space.replicate == Replicate::kAuto;
  const RelaxedTables tables = *MakeRelaxedTables(graph, mesh, space);
  int operand = -1;  // of a node's uses that of its result is the first
  for (size_t u = 0; u < tables.uses.size(); ++u) {
    const RelaxedTables::Use& use = tables.uses[u];
    operand = u > 0 && tables.uses[u - 1].node == use.node ? operand + 1 : -1;
    const Node& node = graph.nodes[use.node];
    const std::vector<Grid> nodes =
        EveryNodeGrid(mesh, *node.definition, IsCopy(graph, node), Demands());
    const std::vector<Grid> tensors =
        EveryTensorGrid(mesh, graph.tensors[use.tensor], replicate, Demands());
    REQUIRE(use.cost->row_of.size() == nodes.size());
    counts.rows += static_cast<int64_t>(use.cost->rows.size());
    counts.grids += static_cast<int64_t>(nodes.size());
    for (size_t n = 0; n < nodes.size(); ++n) {
      for (size_t t = 0; t < tensors.size(); ++t) {
        const int64_t cost =
            CostOf({mesh, space.objective, *node.definition, operand, nodes[n], tensors[t]});
        ++counts.cells;
        counts.wrong += use.cost->At(n, t) != cost;
        counts.never += cost == kNever;
      }
    }
  }
}

// In bytes, and in time on links that are all slow in other ways.
void Compare(const Graph& graph, const Mesh& mesh, Counts& counts) {
  CAPTURE(mesh.devices(), mesh.kinds());
  Space space;
  Compare(graph, mesh, space, counts);
  space.objective =
      Objective(ObjectiveKind::kTime, MachineFor(mesh, {2e-9, 3e-8, 4e-7}, {5e8, 7e8, 3e7}));
  Compare(graph, mesh, space, counts);
  space.replicate = Replicate::kAuto;
  if (mesh.devices() <= 8) Compare(graph, mesh, space, counts);
}

std::vector<Mesh> Meshes() {
  return {MeshOf(4),
          MeshOf(6),
          MeshOf(8),
          MeshOfKinds(8, {1, 0, 0}),
          MeshOfKinds(8, {2, 1, 0}),
          MeshOfKinds(12, {1, 1, 0}),
          MeshOfKinds(16, {1, 1, 0, 0})};
}

TEST_CASE("tables have the costs that each cell has by itself") {
  GraphBuilder even;  // of factors that are alike but for their extents
  const TensorId y = even.BatchedMatmul(even.Input({16, 32, 64}), even.Parameter({16, 64, 48}));
  GraphBuilder windows;
  const TensorId conv = windows.Conv(windows.Input({3, 2, 7, 5}, ElementType::kBF16),
                                     windows.Parameter({3, 2, 3, 2}, ElementType::kBF16), 2, 1);
  const TensorId sum = windows.SumOver(windows.MaxPool(conv, 2, 1), 2);
  GraphBuilder strange;
  const TensorId gradient =
      strange.ConvGradient(strange.Input({3, 5}), strange.Parameter({4}), 2, 12);
  const TensorId shifted = strange.Shift(strange.Slice(strange.Input({9, 4}), 2, 6), 1);
  const TensorId merged = strange.Merge(strange.Input({4, 6, 5}), 0);
  const Graph graphs[] = {even.Finish({even.SumOver(y, 1)}), windows.Finish({sum}),
                          strange.Finish({gradient, shifted, strange.Split(merged, 0, 6)})};
  Counts counts;
  for (const Mesh& mesh : Meshes()) {
    for (const Graph& graph : graphs) Compare(graph, mesh, counts);
  }
  CHECK(counts.wrong == 0);
  CHECK(counts.cells > 100'000);
  CHECK(counts.rows < counts.grids);
}

TEST_CASE("tables of random graphs have the costs that each cell has by itself") {
  Counts counts;
  for (const Mesh& mesh : Meshes()) {
    RandomGraphs random(5, mesh.devices());
    for (int round = 0; round < 6; ++round) Compare(random.Next(), mesh, counts);
  }
  CHECK(counts.wrong == 0);
}

TEST_CASE("tables of partials have the costs that each cell has by itself") {
  Counts counts;
  for (const auto& [rows, middle] : {std::pair(5, 7), std::pair(8, 4)}) {
    GraphBuilder two;
    const TensorId sum = two.Add(two.Matmul(two.Input({rows, 6}), two.Parameter({6, middle})),
                                 two.Matmul(two.Input({rows, 8}), two.Parameter({8, middle})));
    const Graph sums = two.Finish({two.Relu(sum)});
    GraphBuilder layers;
    const TensorId y = layers.Matmul(layers.Input({rows, 6}), layers.Parameter({6, middle}));
    const TensorId z = layers.Matmul(y, layers.Parameter({middle, 8}));
    const Graph chain = layers.Finish({layers.Relu(z)});
    for (const Mesh& mesh : Meshes()) {
      Compare(WithAccumulators(sums, mesh), mesh, counts);
      Compare(WithPartials(chain, mesh), mesh, counts);
    }
  }
  CHECK(counts.wrong == 0);
  CHECK(counts.never > 0);
}

}  // namespace
}  // namespace yuba::search
