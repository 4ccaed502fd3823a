// Bounds for each pair of a tensor's grid (a row) and a node's grid (a column), of one factor of a
// use's boxes or of several multiplied together.
//
// Grids that cut the factors alike are of one kind, and a bound is held for each pair of kinds. So
// few are multiplied before the last factors meet: of 6 factors and 3,000 x 3,000 grids each half
// has some 300 x 300 kinds, and a cell of the whole takes one look-up, by the bounds of both
// halves.
#ifndef YUBA_SEARCH_COST_FACTOR_BOUNDS_H_
#define YUBA_SEARCH_COST_FACTOR_BOUNDS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "search/cost/numbering.h"

namespace yuba::search {

class FactorBounds {
 public:
  // [grid]: its kind, from 0 on.
  FactorBounds(std::vector<int> rows, std::vector<int> columns);

  // Sets the bound of all pairs of kinds.
  void SetAll(absl::FunctionRef<int(int row_kind, int column_kind)> bound_of);

  // Makes kinds of rows with equal bounds one, and of columns.
  void JoinKinds();

  // Kinds by grid.
  const std::vector<int>& rows() const { return rows_; }
  const std::vector<int>& columns() const { return columns_; }
  int64_t pairs() const { return int64_t{row_kinds_} * column_kinds_; }
  // The different bounds.
  const std::vector<int>& bounds() const { return bounds_.things(); }
  // By column kind: which of bounds().
  const int* OfRow(int row_kind) const { return &numbers_[row_kind * int64_t{column_kinds_}]; }

  // Of the factors of both. `multiply` tells the number of the product of two bounds.
  friend FactorBounds Product(const FactorBounds& a, const FactorBounds& b,
                              absl::FunctionRef<int(int, int)> multiply);

 private:
  std::vector<int> rows_, columns_;
  int row_kinds_, column_kinds_;
  Numbering<int> bounds_;
  std::vector<int> numbers_;  // row-major [row kind][column kind]: which of bounds()
};

// The products of some factors, two by two, until two of them are left. `one`: the bound of none.
std::pair<FactorBounds, FactorBounds> Halves(std::vector<FactorBounds> factors, size_t rows,
                                             size_t columns, int one,
                                             absl::FunctionRef<int(int, int)> multiply);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_FACTOR_BOUNDS_H_
