// Tables by grids of choices, for the replay of pruned elimination proofs: into how many parts an
// element is cut, whatever mesh axes cut it.
#ifndef YUBA_SEARCH_CHECK_GRIDS_H_
#define YUBA_SEARCH_CHECK_GRIDS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "search/check/minimum.h"
#include "search/check/tables.h"
#include "search/plan/choice.h"

namespace yuba::search {

// Steps through all values below `sizes`, the last one fastest; false after the last of them.
bool NextValues(const std::vector<int>& sizes, std::vector<int>* values);

// By entry of `scope`, its place in `joint`.
std::vector<int> PlacesIn(const std::vector<int>& joint, const std::vector<int>& scope);

// Where the values of a joint scope, of these sizes, lead in a table over some places of it.
int64_t CellOf(const std::vector<int>& places, const std::vector<int>& sizes,
               const std::vector<int>& values);

// `count` values that have no other names: each is renamed to itself.
Renamings::value_type Unnamed(size_t count);

class GridTables {
 public:
  explicit GridTables(const CostTables& costs);  // which must outlive this

  int Grids(int element) const { return static_cast<int>(choices_[element].of_grid.size()); }
  const std::vector<int>& ChoicesOf(int element, int grid) const {
    return choices_[element].of_grid[grid];
  }
  int CountIn(int element, const std::vector<int>& grids) const;  // cuts of these grids
  // What renaming makes of the choices of a grid: it leaves them there.
  const Renamings::value_type& RenamedIn(int element, int grid) const {
    return choices_[element].renamed[grid];
  }
  const Renamings& coarse() const { return coarse_; }  // by element, of grids: none is renamed

  // The least of the cells of the same grids.
  CheckTable ByGrid(const CheckTable& table);
  // The cells of these choices; by entry of the table's scope.
  CheckTable::Cells OfChoices(const CheckTable& table,
                              const std::vector<const std::vector<int>*>& choices) const;
  // Tables over the same elements added up. By grids the least of a sum is more than the sum of the
  // least.
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
