// Tables of costs by grids that are known already. Many uses of a model cost the same, those of
// different definitions too, and searches of one model in several spaces have most of them in
// common.
#ifndef YUBA_SEARCH_COST_TABLE_CACHE_H_
#define YUBA_SEARCH_COST_TABLE_CACHE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "search/cost/cost_key.h"
#include "search/solve/pairwise.h"
#include "search/space/grid_space.h"

namespace yuba::search {

// Not for several threads at a time.
class TableCache {
 public:
  // The table of these grids, row-major [tensor grid][node grid], where it, or one of more grids,
  // is known; else null. Both lists are ascending.
  Cells Find(const CostKey& use, const GridList& tensor_grids, const GridList& node_grids) const;
  void Add(const CostKey& use, GridList tensor_grids, GridList node_grids, Cells cells);

 private:
  struct Table {
    GridList tensor_grids, node_grids;
    Cells cells;
  };
  std::map<CostKey, std::vector<Table>> tables_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_TABLE_CACHE_H_
