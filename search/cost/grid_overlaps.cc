#include "search/cost/grid_overlaps.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "search/cost/numbering.h"
#include "search/cost/overlap_bound.h"

namespace yuba::search {
namespace {

// Factors are multiplied into one table where that leaves so many cells for each pair of kinds.
constexpr int64_t kCellsOfPair = 16;

using Renumbering = Numbering<int, absl::flat_hash_map<int, int>>;

// The bounds of one factor, or of several multiplied together, for all pairs of grids. Grids that
// cut the factor alike are one kind, and a bound is held for each pair of kinds, by number; equal
// bounds have one number.
class FactorTable {
 public:
  FactorTable(OverlapBounds* bounds, const std::vector<int64_t>& dims, const BoxFactor& factor,
              const std::vector<Grid>& tensors, const std::vector<const PartBoxes*>& pieces) {
    std::vector<int64_t> extents;
    for (int d : factor.dims) extents.push_back(dims[d]);
    Numbering<std::vector<int>> row_kinds;
    for (const Grid& tensor : tensors) {
      std::vector<int> parts;
      for (int d : factor.dims) parts.push_back(tensor[d]);
      rows_.push_back(row_kinds.Of(parts));
    }
    Numbering<const PartBoxes*, absl::flat_hash_map<const PartBoxes*, int>> column_kinds;
    for (const PartBoxes* column : pieces) columns_.push_back(column_kinds.Of(column));
    for (const std::vector<int>& parts : row_kinds.things()) {
      for (const PartBoxes* column : column_kinds.things()) {
        pairs_.push_back(numbers_.Of(bounds->Of(extents, parts, *column)));
      }
    }
    column_kinds_ = column_kinds.size();
  }

  // Multiplies this by another table of the same grids. False, and nothing changes, where both
  // together have more than `most` pairs of kinds.
  bool Multiply(const FactorTable& other, int64_t most, OverlapBounds* bounds) {
    const Kinds rows = KindsOf(rows_, other.rows_), columns = KindsOf(columns_, other.columns_);
    if (int64_t{rows.size()} * columns.size() > most) return false;
    std::vector<int> pairs, known(int64_t{size()} * other.size(), -1);
    Renumbering products;
    for (const auto& row : rows.things()) {
      for (const auto& column : columns.things()) {
        const int a = pairs_[row.first * column_kinds_ + column.first];
        const int b = other.pairs_[row.second * other.column_kinds_ + column.second];
        int& number = known[int64_t{a} * other.size() + b];
        if (number < 0) number = products.Of(bounds->Product(at(a), other.at(b)));
        pairs.push_back(number);
      }
    }
    rows_ = Renumbered(rows, rows_, other.rows_);
    columns_ = Renumbered(columns, columns_, other.columns_);
    column_kinds_ = columns.size();
    pairs_ = std::move(pairs);
    numbers_ = std::move(products);
    return true;
  }

  // How many different bounds there are, and the number in OverlapBounds of each.
  int size() const { return numbers_.size(); }
  int at(int number) const { return numbers_.at(number); }
  // [column kind]: the numbers of one row.
  const int* NumbersOf(size_t row) const { return &pairs_[rows_[row] * column_kinds_]; }
  int KindOf(size_t column) const { return columns_[column]; }

 private:
  using Kinds = Numbering<std::pair<int, int>, absl::flat_hash_map<std::pair<int, int>, int>>;
  static Kinds KindsOf(const std::vector<int>& a, const std::vector<int>& b) {
    Kinds kinds;
    for (size_t i = 0; i < a.size(); ++i) kinds.Of({a[i], b[i]});
    return kinds;
  }
  static std::vector<int> Renumbered(Kinds kinds, const std::vector<int>& a,
                                     const std::vector<int>& b) {
    std::vector<int> numbers;
    for (size_t i = 0; i < a.size(); ++i) numbers.push_back(kinds.Of({a[i], b[i]}));
    return numbers;
  }

  std::vector<int> rows_, columns_;  // the kind of each row and column
  int64_t column_kinds_ = 0;
  std::vector<int> pairs_;  // [row kind][column kind]: number
  Renumbering numbers_;
};

// The tables, with neighbours multiplied together as long as a product has at most `most` pairs of
// kinds.
std::vector<FactorTable> Together(std::vector<FactorTable> factors, int64_t most,
                                  OverlapBounds* bounds) {
  std::vector<FactorTable> tables;
  for (FactorTable& factor : factors) {
    if (tables.empty() || !tables.back().Multiply(factor, most, bounds)) {
      tables.push_back(std::move(factor));
    }
  }
  return tables;
}

// The greatest overlaps of rows and columns. The tables are multiplied one after another; few
// different products occur, and each is computed once.
class Overlaps {
 public:
  Overlaps(OverlapBounds* bounds, const std::vector<FactorTable>& tables)
      : bounds_(*bounds), tables_(tables), levels_(tables.size()) {
    if (tables_.empty()) return;
    NumberOf(0, bounds_.one());
  }

  // The overlaps of `row`, [column], to *overlaps.
  void Of(size_t row, size_t columns, std::vector<int64_t>* overlaps) {
    overlaps->resize(columns);
    if (tables_.empty()) {
      const int64_t all = bounds_.GreatestOfProduct(bounds_.one(), bounds_.one());
      std::fill(overlaps->begin(), overlaps->end(), all);
      return;
    }
    products_.assign(columns, 0);
    const size_t last = tables_.size() - 1;
    for (size_t f = 0; f <= last; ++f) {
      const int* numbers = tables_[f].NumbersOf(row);
      const int64_t size = tables_[f].size();
      for (size_t c = 0; c < columns; ++c) {
        const int number = numbers[tables_[f].KindOf(c)];
        const int64_t known = levels_[f].next[products_[c] * size + number];
        const int64_t next = known >= 0 ? known : Multiply(f, products_[c], number);
        (f < last ? products_ : *overlaps)[c] = next;
      }
    }
  }

 private:
  // The different products of the first tables.
  struct Level {
    Renumbering products;
    // [product][number in the next table]: the product of both, by number in the next level; after
    // the last table the greatest overlap instead. -1: not computed yet.
    std::vector<int64_t> next;
  };

  int64_t Multiply(size_t level, int64_t product, int number) {
    const int a = levels_[level].products.at(static_cast<int>(product));
    const int b = tables_[level].at(number);
    const int64_t next = level + 1 == levels_.size() ? bounds_.GreatestOfProduct(a, b)
                                                     : NumberOf(level + 1, bounds_.Product(a, b));
    return levels_[level].next[product * tables_[level].size() + number] = next;
  }

  int NumberOf(size_t level, int bound) {
    Level& here = levels_[level];
    const int known = here.products.size(), number = here.products.Of(bound);
    if (number == known) here.next.resize(here.next.size() + tables_[level].size(), -1);
    return number;
  }

  OverlapBounds& bounds_;
  const std::vector<FactorTable>& tables_;
  std::vector<Level> levels_;      // [table]: the products of the tables before it
  std::vector<int64_t> products_;  // [column]: the product so far, of one row
};

}  // namespace

void ForEachRowOfOverlaps(
    int64_t devices, const std::vector<int64_t>& dims, const std::vector<Grid>& tensor_grids,
    const std::vector<Grid>& node_grids, Regions* regions, const Budget& budget,
    absl::FunctionRef<void(size_t tensor_grid, const std::vector<int64_t>& overlaps)> row) {
  OverlapBounds bounds(devices);
  std::vector<FactorTable> factors;
  for (size_t f = 0; f < regions->factors().size() && !dims.empty(); ++f) {
    std::vector<const PartBoxes*> pieces;
    for (const Grid& grid : node_grids) {
      pieces.push_back(&regions->PiecesOf(static_cast<int>(f), grid));
    }
    factors.emplace_back(&bounds, dims, regions->factors()[f], tensor_grids, pieces);
  }
  const auto few = static_cast<int64_t>(tensor_grids.size() * node_grids.size() / kCellsOfPair);
  const std::vector<FactorTable> tables = Together(std::move(factors), few, &bounds);
  Overlaps overlaps(&bounds, tables);
  std::vector<int64_t> of_row;
  for (size_t r = 0; r < tensor_grids.size() && !budget.ShouldStop(); ++r) {
    overlaps.Of(r, node_grids.size(), &of_row);
    row(r, of_row);
  }
}

}  // namespace yuba::search
