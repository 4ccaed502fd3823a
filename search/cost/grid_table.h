// The costs of one use for node grids that all cut the reduction, or all do not: the half of
// UseCosts behind tables by grids.
//
// A cost depends on the bounds of both halves of the factors, and else only on the class of its row
// and that of its column. There are few of each, so most costs are known when they are asked for.
#ifndef YUBA_SEARCH_COST_GRID_TABLE_H_
#define YUBA_SEARCH_COST_GRID_TABLE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/optional.h"
#include "search/cost/crossings.h"
#include "search/cost/factor_bounds.h"
#include "search/cost/grid_bounds.h"
#include "search/cost/use_costs.h"
#include "search/plan/link_terms.h"

namespace yuba::search {

class UseCosts::GridTable {
 public:
  // `partial`: all node grids cut the reduction. The lists of grids must outlive this.
  GridTable(UseCosts& use, bool partial, LinkTerm term, const std::vector<Grid>& tensor_grids,
            const std::vector<Grid>& node_grids);

  // Grids by number, a class for those of which all costs are the same. [class]: one of its grids.
  struct Classes {
    std::vector<int> of;  // [grid]
    std::vector<size_t> first;
  };
  Classes RowClasses() const;
  Classes ColumnClasses() const;

  // Calls `row` for each of these tensor grids, in some order, with its place among them and its
  // costs by node grid, of those asked for.
  void ForEachRow(const std::vector<size_t>& rows, const std::vector<size_t>& columns,
                  const Budget& budget,
                  absl::FunctionRef<void(size_t, const std::vector<int64_t>&)> row);

 private:
  struct ColumnClass {
    Grid grid;          // the first of the class
    int64_t boxes = 0;  // of a gather as many as devices, of a reduction as first producers
    Crossings::Partials partials;
  };

  static absl::optional<Crossings> CrossingsOf(UseCosts& use, bool partial);
  void AddRows();
  void AddColumns(const std::vector<Grid>& node_grids);
  // How many boxes there are, of the far term for each box of the factors.
  int64_t BoxesOf(const Grid& node) const;
  // `a`, `b`: the bounds of both halves.
  int64_t CellOf(size_t row, const ColumnClass& column, int a, int b);

  UseCosts& use_;
  const bool partial_;
  const LinkTerm term_;
  const std::vector<Grid>& tensor_grids_;
  const absl::optional<Crossings> crossings_;  // only of times
  GridBounds bounds_;
  const std::pair<FactorBounds, FactorBounds> halves_;
  std::vector<ColumnClass> classes_;
  std::vector<int> columns_;               // [node grid]: its class
  std::vector<int> row_classes_;           // [tensor grid]
  std::vector<int64_t> all_parts_;         // [row class]: of the tensor
  std::vector<Crossings::Owners> owners_;  // [row class], with crossings_
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_GRID_TABLE_H_
