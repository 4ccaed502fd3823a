#include "search/grid_costs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

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
// products. Equal bounds have one number.
class FactorTable {
 public:
  FactorTable(const std::vector<int64_t>& extents, const BoxFactor& factor) {
    for (int d : factor.dims) extents_.push_back(extents[d]);
    dims_ = factor.dims;
  }

  void AddRow(const Grid& tensor) {
    std::vector<int> parts;
    for (int d : dims_) parts.push_back(tensor[d]);
    auto [place, is_new] = row_kinds_.emplace(parts, static_cast<int>(row_parts_.size()));
    if (is_new) row_parts_.push_back(std::move(parts));
    rows_.push_back(place->second);
  }
  void AddColumn(const FactorPieces* pieces) {
    auto [place, is_new] = column_kinds_.emplace(pieces, static_cast<int>(pieces_.size()));
    if (is_new) pieces_.push_back(pieces);
    columns_.push_back(place->second);
  }
  void Fill() {
    std::map<OverlapProduct, int> numbers;
    for (const std::vector<int>& parts : row_parts_) {
      for (const FactorPieces* pieces : pieces_) {
        auto [place, is_new] = numbers.emplace(OverlapOf(extents_, parts, *pieces),
                                               static_cast<int>(overlaps_.size()));
        if (is_new) overlaps_.push_back(place->first);
        pairs_.push_back(place->second);
      }
    }
  }
  // How many different ones there are, and which one is that of a row and a column.
  int size() const { return static_cast<int>(overlaps_.size()); }
  const OverlapProduct& at(int number) const { return overlaps_[number]; }
  // By column kind, of one row.
  const int* NumbersOf(size_t row) const { return &pairs_[rows_[row] * pieces_.size()]; }
  int KindOf(size_t column) const { return columns_[column]; }

 private:
  std::vector<int64_t> extents_;
  std::vector<int> dims_;
  std::vector<int> rows_, columns_;  // the kind of each row and column
  std::map<std::vector<int>, int> row_kinds_;
  std::vector<std::vector<int>> row_parts_;  // by kind
  std::map<const FactorPieces*, int> column_kinds_;
  std::vector<const FactorPieces*> pieces_;  // by kind
  std::vector<int> pairs_;                   // [row kind][column kind]: number
  std::vector<OverlapProduct> overlaps_;  // by number
};

// The greatest overlaps of rows and columns. The factors are multiplied one after another; few
// different products occur, and each is made once.
class Overlaps {
 public:
  Overlaps(int64_t devices, const std::vector<FactorTable>& tables)
      : devices_(devices), tables_(tables), levels_(tables.size() + 1) {
    for (const FactorTable& table : tables_) {
      for (int number = 0; number < table.size(); ++number) {
        means_ = means_ || !table.at(number).means.empty();
      }
    }
    NumberOf(0, OverlapProduct());
  }

  // To `row`, by column.
  void Of(size_t row, size_t columns, std::vector<int64_t>* overlaps) {
    products_.assign(columns, 0);
    for (size_t f = 0; f < tables_.size(); ++f) {
      const int* numbers = tables_[f].NumbersOf(row);
      const int size = tables_[f].size();
      for (size_t c = 0; c < columns; ++c) {
        const int number = numbers[tables_[f].KindOf(c)];
        const int next = levels_[f].next[int64_t{products_[c]} * size + number];
        products_[c] = next >= 0 ? next : Multiply(f, products_[c], number);
      }
    }
    overlaps->resize(columns);
    for (size_t c = 0; c < columns; ++c) (*overlaps)[c] = greatest_[products_[c]];
  }

 private:
  // The products of so many of the factors.
  struct Level {
    std::map<OverlapProduct, int> numbers;
    std::vector<const OverlapProduct*> products;
    std::vector<int> next;  // [product][number of the next factor's bound]; -1: not known yet
  };

  int Multiply(size_t level, int product, int number) {
    OverlapProduct next = Product(*levels_[level].products[product], tables_[level].at(number));
    if (!means_) next.greatest = 1;  // of no use, and it would tell equal ones apart
    const int next_number = NumberOf(level + 1, std::move(next));
    return levels_[level].next[int64_t{product} * tables_[level].size() + number] = next_number;
  }

  int NumberOf(size_t level, OverlapProduct product) {
    Level& here = levels_[level];
    const auto [place, is_new] =
        here.numbers.emplace(std::move(product), static_cast<int>(here.products.size()));
    if (!is_new) return place->second;
    here.products.push_back(&place->first);
    if (level < tables_.size()) {
      here.next.resize(here.next.size() + tables_[level].size(), -1);
    } else {
      greatest_.push_back(GreatestOverlap(devices_, place->first));
    }
    return place->second;
  }

  const int64_t devices_;
  const std::vector<FactorTable>& tables_;
  bool means_ = false;
  std::vector<Level> levels_;
  std::vector<int64_t> greatest_;  // by product of all factors
  std::vector<int> products_;      // by column, of one row
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
    Overlaps overlaps(devices_, tables);
    std::vector<int64_t> of_row;
    for (size_t r = 0; r < tensor_grids.size() && !budget.Spent(); ++r) {
      int64_t parts = PartsOf(tensor_grids[r]);
      overlaps.Of(r, columns.size(), &of_row);
      for (size_t c = 0; c < columns.size(); ++c) {
        int64_t overlap = of_row[c];
        // Homes alone are one device for each part of the tensor: no more than all of it.
        if (partial && !IntoAddend()) overlap = std::min(overlap, elements_);
        cells[r * node_grids.size() + columns[c]] = CostOf(sides[columns[c]], parts, overlap);
      }
    }
  }
  return cells;
}

}  // namespace yuba
