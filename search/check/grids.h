// Tables of choices seen by grid, for the replay of proofs of kind "grids".
//
// The choices of an element fall into grids: into how many parts each extent is cut, whatever the
// axes. The table by grid of a table of choices has the least of each block: where [32/ab, 64/c]
// and [32/ba, 64/c] cost 10 and 30 bytes with some grid of a node, grid (4, 2) costs 10.
#ifndef YUBA_SEARCH_CHECK_GRIDS_H_
#define YUBA_SEARCH_CHECK_GRIDS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "search/check/minimum.h"
#include "search/check/tables.h"
#include "search/plan/choice.h"

namespace yuba::search {

// Steps to the next tuple of values below `sizes`, the last entry fastest; false, with all values 0
// again, after the last tuple.
bool NextValues(const std::vector<int>& sizes, std::vector<int>* values);

// By entry of `scope`, its place in `joint`.
std::vector<int> PlacesIn(const std::vector<int>& joint, const std::vector<int>& scope);

// The place in a row-major table over some places of a joint scope: `sizes` and `values` by place
// of the joint scope.
int64_t CellOf(const std::vector<int>& places, const std::vector<int>& sizes,
               const std::vector<int>& values);

// The renamings of `count` values that have no other names: one, each to itself.
Renamings::value_type Unnamed(size_t count);

class GridTables {
 public:
  explicit GridTables(const CostTables& costs);  // which must outlive this

  // By element: how many grids it has; the choices of a grid, ascending.
  int Grids(int element) const { return static_cast<int>(choices_[element].of_grid.size()); }
  const std::vector<int>& ChoicesOf(int element, int grid) const {
    return choices_[element].of_grid[grid];
  }
  int CountIn(int element, const std::vector<int>& grids) const;  // choices of these grids
  // What renaming axes makes of the choices of a grid, by place in ChoicesOf: their grid stays.
  const Renamings::value_type& RenamedIn(int element, int grid) const {
    return choices_[element].renamed[grid];
  }
  const Renamings& coarse() const { return coarse_; }  // by element, of its grids: each to itself

  // The table over grids: of each assignment of grids the least cell.
  CheckTable ByGrid(const CheckTable& table);
  // The cells of these choices, row-major. `choices`: by entry of the table's scope.
  CheckTable::Cells OfChoices(const CheckTable& table,
                              const std::vector<const std::vector<int>*>& choices) const;
  // Tables over the same elements added up, so that there is one of each scope. By grid the least
  // of a sum is a better bound than the sum of the least.
  std::vector<CheckTable> OneOfEachScope(std::vector<CheckTable> tables) const;

 private:
  struct Choices {
    std::vector<std::vector<int>> of_grid;
    std::vector<int> grid;  // by choice
    Renamings renamed;      // by grid
  };

  static Choices Grouped(const std::vector<int>& grids,
                         const std::vector<std::vector<int>>& renamed);
  CheckTable SumOf(const std::vector<int>& scope, const std::vector<CheckTable>& terms) const;

  const CostTables& costs_;
  std::vector<Choices> choices_;  // by element
  Renamings coarse_;
  std::map<std::vector<const void*>, CheckTable::Cells> by_grid_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_GRIDS_H_
