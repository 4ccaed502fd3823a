#include "search/cost/grid_overlaps.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "search/cost/numbering.h"
#include "search/cost/overlap_bound.h"

namespace yuba::search {
namespace {

// Numbers, from 0, of the bounds that occur.
using Renumbering = Numbering<int, absl::flat_hash_map<int, int>>;

// The bounds of one factor for all pairs of grids. Grids that cut the factor alike are one kind,
// and a bound is held for each pair of kinds.
struct FactorTable {
  FactorTable(OverlapBounds* all, const std::vector<int64_t>& dims, const BoxFactor& factor,
              const std::vector<Grid>& tensors, const std::vector<const PartBoxes*>& pieces) {
    std::vector<int64_t> extents;
    for (int d : factor.dims) extents.push_back(dims[d]);
    Numbering<Grid> row_kinds;
    for (const Grid& tensor : tensors) rows.push_back(row_kinds.Of(GridAlong(tensor, factor.dims)));
    Numbering<const PartBoxes*, absl::flat_hash_map<const PartBoxes*, int>> column_kinds;
    for (const PartBoxes* column : pieces) columns.push_back(column_kinds.Of(column));
    for (const Grid& row : row_kinds.things()) {
      pairs.emplace_back();
      for (const PartBoxes* column : column_kinds.things()) {
        pairs.back().push_back(bounds.Of(all->Of(extents, row, *column)));
      }
    }
  }

  std::vector<int> rows, columns;       // the kind of each row and column
  std::vector<std::vector<int>> pairs;  // [row kind][column kind]: number
  Renumbering bounds;
};

// The greatest overlaps of rows and columns. The tables are multiplied one after another; few
// different products occur, and each is computed once.
class Overlaps {
 public:
  Overlaps(OverlapBounds* bounds, std::vector<FactorTable> tables)
      : bounds_(*bounds), tables_(std::move(tables)), levels_(tables_.size()) {
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
      const std::vector<int>& numbers = tables_[f].pairs[tables_[f].rows[row]];
      const int64_t size = tables_[f].bounds.size();
      for (size_t c = 0; c < columns; ++c) {
        const int number = numbers[tables_[f].columns[c]];
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
    const int b = tables_[level].bounds.at(number);
    const int64_t next = level + 1 == levels_.size() ? bounds_.GreatestOfProduct(a, b)
                                                     : NumberOf(level + 1, bounds_.Product(a, b));
    return levels_[level].next[product * tables_[level].bounds.size() + number] = next;
  }

  int NumberOf(size_t level, int bound) {
    Level& here = levels_[level];
    const int known = here.products.size(), number = here.products.Of(bound);
    if (number == known) here.next.resize(here.next.size() + tables_[level].bounds.size(), -1);
    return number;
  }

  OverlapBounds& bounds_;
  const std::vector<FactorTable> tables_;
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
  Overlaps overlaps(&bounds, std::move(factors));
  std::vector<int64_t> of_row;
  for (size_t r = 0; r < tensor_grids.size() && !budget.ShouldStop(); ++r) {
    overlaps.Of(r, node_grids.size(), &of_row);
    row(r, of_row);
  }
}

}  // namespace yuba::search
