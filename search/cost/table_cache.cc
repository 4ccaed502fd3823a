#include "search/cost/table_cache.h"

#include <utility>

namespace yuba::search {
namespace {

// [entry of `some`]: its position in `all`; empty where one is missing. Both are ascending.
std::vector<size_t> PlacesIn(const std::vector<Grid>& all, const std::vector<Grid>& some) {
  std::vector<size_t> places;
  size_t place = 0;
  for (const Grid& grid : some) {
    while (place < all.size() && all[place] < grid) ++place;
    if (place == all.size() || all[place] != grid) return {};
    places.push_back(place);
  }
  return places;
}

}  // namespace

Cells TableCache::Find(const CostKey& use, const GridList& tensor_grids,
                       const GridList& node_grids) const {
  const auto known = tables_.find(use);
  if (known == tables_.end()) return nullptr;
  for (const Table& table : known->second) {
    const std::vector<size_t> rows = PlacesIn(*table.tensor_grids, *tensor_grids);
    const std::vector<size_t> columns = PlacesIn(*table.node_grids, *node_grids);
    if (rows.empty() || columns.empty()) continue;
    const size_t width = table.node_grids->size();
    if (rows.size() == table.tensor_grids->size() && columns.size() == width) return table.cells;
    std::vector<int64_t> cells;
    cells.reserve(rows.size() * columns.size());
    for (const size_t row : rows) {
      for (const size_t column : columns) cells.push_back((*table.cells)[row * width + column]);
    }
    return std::make_shared<const std::vector<int64_t>>(std::move(cells));
  }
  return nullptr;
}

void TableCache::Add(const CostKey& use, GridList tensor_grids, GridList node_grids, Cells cells) {
  tables_[use].push_back({std::move(tensor_grids), std::move(node_grids), std::move(cells)});
}

}  // namespace yuba::search
