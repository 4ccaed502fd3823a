#include "search/grid_costs.h"

#include <algorithm>
#include <limits>
#include <map>

#include "opsemantics/base/check.h"
#include "search/arithmetic.h"
#include "search/overlap_bound.h"

namespace yuba {
namespace {

using Wide = __int128;

int64_t PartsOf(const Grid& grid) {
  int64_t parts = 1;
  for (int count : grid) parts *= count;
  return parts;
}

// Bounds of the overlap of one factor for all pairs of its grids, each kept once, ready for
// products.
class FactorTable {
 public:
  FactorTable(const std::vector<int64_t>& extents, const BoxFactor& factor) {
    for (int d : factor.dims) extents_.push_back(extents[d]);
    dims_ = factor.dims;
  }

  void AddRow(const Grid& tensor) {
    std::vector<int> parts;
    for (int d : dims_) parts.push_back(tensor[d]);
    rows_.push_back(NumberOf(parts, &row_kinds_));
  }
  void AddColumn(const FactorPieces* pieces) {
    auto found = std::find(column_kinds_.begin(), column_kinds_.end(), pieces);
    columns_.push_back(static_cast<int>(found - column_kinds_.begin()));
    if (found == column_kinds_.end()) column_kinds_.push_back(pieces);
  }
  void Fill() {
    for (const std::vector<int>& parts : row_kinds_) {
      for (const FactorPieces* pieces : column_kinds_) {
        pairs_.push_back(OverlapOf(extents_, parts, *pieces));
      }
    }
  }
  const FactorOverlap& at(size_t row, size_t column) const {
    return pairs_[rows_[row] * column_kinds_.size() + columns_[column]];
  }

 private:
  static int NumberOf(const std::vector<int>& thing, std::vector<std::vector<int>>* known) {
    auto found = std::find(known->begin(), known->end(), thing);
    int number = static_cast<int>(found - known->begin());
    if (found == known->end()) known->push_back(thing);
    return number;
  }

  std::vector<int64_t> extents_;
  std::vector<int> dims_;
  std::vector<int> rows_, columns_;  // the kind of each row and column
  std::vector<std::vector<int>> row_kinds_;
  std::vector<const FactorPieces*> column_kinds_;
  std::vector<FactorOverlap> pairs_;  // [row kind][column kind]
};

const TensorType& TypeOf(const Definition& definition, int operand) {
  return operand < 0 ? definition.result : definition.operands[operand];
}

}  // namespace

UseCosts::UseCosts(const Definition& definition, int operand, const Mesh& mesh)
    : definition_(definition),
      operand_(operand),
      mesh_(mesh),
      devices_(mesh.devices()),
      type_(TypeOf(definition, operand)),
      elements_(ElementCount(type_)),
      whole_(definition, operand, false),
      partial_(definition, operand, operand < 0) {}

UseCosts::NodeSide UseCosts::SideOf(const Grid& grid) {
  NodeSide side;
  for (size_t i = 0; i < grid.size(); ++i) {
    if (definition_.indices[i].reduction) side.parts *= grid[i];
  }
  side.partial = operand_ < 0 && side.parts > 1;
  side.size = ByteSize(side.partial ? AccumulatorType(type_.type) : type_.type);
  Regions& regions = RegionsOf(side.partial);
  Wide volume = operand_ < 0 ? PartsOf(grid) : devices_;
  bool scalar = type_.dims.empty();  // its box is never empty
  for (size_t f = 0; f < regions.factors().size() && !scalar; ++f) {
    const FactorPieces& pieces = regions.PiecesOf(static_cast<int>(f), grid);
    volume = volume * pieces.volume;
  }
  for (size_t f = 0; f < regions.factors().size() && !scalar; ++f) {
    volume /= regions.PiecesOf(static_cast<int>(f), grid).count;
  }
  side.needed = side.made = static_cast<int64_t>(volume);
  return side;
}

int64_t UseCosts::CostOf(const NodeSide& side, int64_t tensor_parts, int64_t overlap) const {
  int64_t copies = devices_ / tensor_parts;  // of each element
  int64_t expected = side.needed;
  if (IntoAddend()) {
    expected = side.made;
  } else if (FromAddend()) {
    expected = CheckedMultiply(elements_, copies);
  } else if (operand_ < 0) {
    expected = side.parts == 1 ? CheckedMultiply(side.made, copies)
                               : CheckedAdd(side.made, CheckedMultiply(elements_, copies - 1));
  }
  return CheckedMultiply(std::max<int64_t>(0, expected - overlap), side.size);
}

std::vector<int64_t> UseCosts::Relaxed(const std::vector<Grid>& tensor_grids,
                                       const std::vector<Grid>& node_grids, const Budget& budget) {
  std::vector<int64_t> cells(tensor_grids.size() * node_grids.size(), 0);
  std::vector<NodeSide> sides;
  for (const Grid& grid : node_grids) sides.push_back(SideOf(grid));
  for (bool partial : {false, true}) {
    std::vector<size_t> columns;
    for (size_t c = 0; c < sides.size(); ++c) {
      if (sides[c].partial == partial) columns.push_back(c);
    }
    if (columns.empty()) continue;
    Regions& regions = RegionsOf(partial);
    std::vector<FactorTable> tables;
    for (size_t f = 0; f < regions.factors().size() && !type_.dims.empty(); ++f) {
      FactorTable table(type_.dims, regions.factors()[f]);
      for (const Grid& grid : tensor_grids) table.AddRow(grid);
      for (size_t c : columns) {
        table.AddColumn(&regions.PiecesOf(static_cast<int>(f), node_grids[c]));
      }
      table.Fill();
      tables.push_back(std::move(table));
    }
    std::vector<const FactorOverlap*> factors(tables.size());
    for (size_t r = 0; r < tensor_grids.size() && !budget.Spent(); ++r) {
      int64_t parts = PartsOf(tensor_grids[r]);
      for (size_t c = 0; c < columns.size(); ++c) {
        for (size_t f = 0; f < tables.size(); ++f) factors[f] = &tables[f].at(r, c);
        int64_t overlap = GreatestOverlap(devices_, factors);
        // Homes alone are one device for each part of the tensor: no more than all of it.
        if (partial && !IntoAddend()) overlap = std::min(overlap, elements_);
        cells[r * node_grids.size() + columns[c]] = CostOf(sides[columns[c]], parts, overlap);
      }
    }
  }
  return cells;
}

}  // namespace yuba
