#include "search/cost/use_costs.h"

#include <algorithm>

#include "opsemantics/base/arithmetic.h"
#include "search/cost/grid_overlaps.h"
#include "search/plan/memory_price.h"

namespace yuba::search {
namespace {

using Wide = __int128;

const TensorType& TypeOf(const Definition& definition, int operand) {
  return operand < 0 ? definition.result : definition.operands[operand];
}

}  // namespace

UseCosts::UseCosts(const Definition& definition, int operand, const Mesh& mesh, int64_t times,
                   const Objective& objective)
    : definition_(definition),
      operand_(operand),
      mesh_(mesh),
      times_(times),
      devices_(mesh.devices()),
      type_(TypeOf(definition, operand)),
      elements_(ElementCount(type_)),
      whole_(definition, operand, false),
      partial_(definition, operand, operand < 0),
      objective_(objective),
      busiest_(definition_, operand_, mesh_, objective_, whole_, partial_) {}

UseCosts::NodeSide UseCosts::SideOf(const Grid& grid) {
  NodeSide side;
  const std::vector<int> parts = PartsOf(grid);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (definition_.indices[i].reduction) side.parts *= parts[i];
  }
  side.partial = operand_ < 0 && side.parts > 1;
  side.size = times_ * ByteSize(side.partial ? AccumulatorType(type_.type) : type_.type);
  Regions& regions = RegionsOf(side.partial);
  Wide volume = operand_ < 0 ? Product(parts) : devices_;
  for (size_t f = 0; f < regions.factors().size() && !type_.dims.empty(); ++f) {
    side.pieces.push_back(&regions.PiecesOf(static_cast<int>(f), grid));
    volume *= side.pieces.back()->volume;
  }
  for (const PartBoxes* pieces : side.pieces) volume /= pieces->count;
  side.needed = side.written = static_cast<int64_t>(volume);
  return side;
}

int64_t UseCosts::CostOf(const NodeSide& side, int64_t tensor_parts, int64_t overlap) const {
  int64_t copies = devices_ / tensor_parts;  // of each element
  int64_t expected = side.needed, results = 0;
  if (IntoPartials()) {
    expected = side.written;
  } else if (FromPartials()) {
    expected = CheckedMultiply(elements_, copies);
  } else if (operand_ < 0 && side.parts == 1) {
    expected = CheckedMultiply(side.written, copies);
  } else if (operand_ < 0) {
    expected = side.written;
    results = CheckedMultiply(elements_, copies - 1);  // in the tensor's own type
  }
  const int64_t bytes = CheckedAdd(CheckedMultiply(expected - overlap, side.size),
                                   CheckedMultiply(results, times_ * ByteSize(type_.type)));
  return std::max<int64_t>(0, bytes);
}

std::vector<int64_t> UseCosts::RelaxedBytes(const std::vector<Grid>& tensor_grids,
                                            const std::vector<Grid>& node_grids,
                                            const Budget& budget) {
  std::vector<int64_t> cells(tensor_grids.size() * node_grids.size(), 0);
  std::vector<NodeSide> sides;
  for (const Grid& grid : node_grids) sides.push_back(SideOf(grid));
  for (bool partial : {false, true}) {
    std::vector<size_t> columns;
    for (size_t c = 0; c < sides.size(); ++c) {
      if (sides[c].partial == partial) columns.push_back(c);
    }
    if (columns.empty()) continue;
    const auto cost_row = [&](size_t r, const std::vector<int64_t>& overlaps) {
      const int64_t parts = Product(PartsOf(tensor_grids[r]));
      for (size_t c = 0; c < columns.size(); ++c) {
        int64_t overlap = overlaps[c];
        // First owners are one device for each part of the tensor, so that their shards together
        // are no more than all of it.
        if (partial && !IntoPartials()) overlap = std::min(overlap, elements_);
        const bool meet = !WithinGroups() || MayKeepGroups(tensor_grids[r], node_grids[columns[c]]);
        cells[r * node_grids.size() + columns[c]] =
            meet ? CostOf(sides[columns[c]], parts, overlap) : kNever;
      }
    };
    std::vector<Grid> nodes;
    for (size_t c : columns) nodes.push_back(node_grids[c]);
    ForEachRowOfOverlaps(devices_, type_.dims, tensor_grids, nodes, &RegionsOf(partial), budget,
                         cost_row);
  }
  return cells;
}

}  // namespace yuba::search
