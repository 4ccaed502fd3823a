// The rows of one use of a tensor by a node (use_table.h), while they are found and computed.
#ifndef YUBA_SEARCH_CHECK_USE_ROWS_H_
#define YUBA_SEARCH_CHECK_USE_ROWS_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "opsemantics/base/mesh.h"
#include "search/check/arrangements.h"
#include "search/check/factor_pairs.h"
#include "search/check/use_cost.h"
#include "search/check/use_table.h"
#include "search/plan/grid.h"

namespace yuba::search {

// The sides of tensor grids: the different ones, and by grid which of them.
struct TensorSides {
  TensorSides(const Mesh& mesh, const std::vector<Grid>& grids);
  std::vector<TensorSide> different;
  std::vector<int> which;
};

// The rows of nodes that write partials to be added up, or of those that do not: their factors are
// not the same.
class UseRows {
 public:
  // `indices`: how many the definition has. `arranged`: rows that differ in the order of the
  // factors share their costs, at the price of several arrangements; else there is one. `cost` and
  // `tensors` are kept by reference.
  UseRows(const UseCost& cost, FactorPairs pairs, const TensorSides& tensors, size_t indices,
          bool arranged);

  // The number of the row of a node grid.
  int NumberOf(const Grid& node);
  // Appends all that the rows depend on but for `cost` and `tensors`.
  void AppendKey(std::vector<int64_t>* key) const;
  // Appends all rows.
  void Write(UseTable* table) const;

 private:
  struct Row {
    const NodeSide* side = nullptr;
    std::vector<const FactorPairs::Column*> columns;  // by factor
  };
  Arrangements::Order OrderOf(const Row& row, const std::vector<size_t>& groups) const;
  void Fill(const Row& row, const std::vector<int>& places, int64_t* costs) const;

  const UseCost& cost_;
  FactorPairs pairs_;
  const TensorSides& tensors_;
  const bool arranged_;
  std::vector<bool> in_factor_;  // [index]
  std::set<NodeSide> sides_;
  // By side, and by what the columns are alike to.
  std::map<std::pair<const NodeSide*, std::vector<int>>, int> numbers_;
  std::vector<Row> rows_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_USE_ROWS_H_
