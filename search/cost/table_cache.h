// Tables of costs by grids that were computed before. Many uses of a model cost the same, also uses
// of different definitions, and searches of one model in several spaces have most tables in common.
#ifndef YUBA_SEARCH_COST_TABLE_CACHE_H_
#define YUBA_SEARCH_COST_TABLE_CACHE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "search/cost/cost_key.h"
#include "search/cost/use_costs.h"
#include "search/space/grid_space.h"

namespace yuba::search {

// Not for several threads at a time.
class TableCache {
 public:
  // The costs of these grids, cut out of a larger table if need be; without cells where no table
  // with all these grids was added that is a sum, or none, as `sum` says. Both lists are in
  // ascending order.
  CostsByGrid Find(const CostKey& use, bool sum, const GridList& tensor_grids,
                   const GridList& node_grids) const;
  void Add(const CostKey& use, GridList tensor_grids, GridList node_grids, CostsByGrid costs);

 private:
  struct Table {
    GridList tensor_grids, node_grids;
    CostsByGrid costs;
  };
  std::map<CostKey, std::vector<Table>> tables_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_TABLE_CACHE_H_
