#include "search/cost/table_cache.h"

#include <memory>
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

// The costs in some rows and columns.
CostsByGrid Part(const CostsByGrid& all, const std::vector<size_t>& rows,
                 const std::vector<size_t>& columns, size_t width) {
  if (all.sum == nullptr) {
    std::vector<int64_t> cells;
    cells.reserve(rows.size() * columns.size());
    for (const size_t row : rows) {
      for (const size_t column : columns) cells.push_back((*all.cells)[row * width + column]);
    }
    return {std::make_shared<const std::vector<int64_t>>(std::move(cells)), nullptr};
  }
  SumOfTables sum = *all.sum;
  for (ClassTable& table : sum) {
    std::vector<int> row_of, column_of;
    for (const size_t row : rows) row_of.push_back(table.row_of[row]);
    for (const size_t column : columns) column_of.push_back(table.column_of[column]);
    table.row_of = std::move(row_of);
    table.column_of = std::move(column_of);
  }
  // Its own cells, as those of a factor say how they are read.
  return {std::make_shared<const std::vector<int64_t>>(*all.cells),
          std::make_shared<const SumOfTables>(std::move(sum))};
}

}  // namespace

CostsByGrid TableCache::Find(const CostKey& use, bool sum, const GridList& tensor_grids,
                             const GridList& node_grids) const {
  const auto known = tables_.find(use);
  if (known == tables_.end()) return {};
  for (const Table& table : known->second) {
    if ((table.costs.sum != nullptr) != sum) continue;
    const std::vector<size_t> rows = PlacesIn(*table.tensor_grids, *tensor_grids);
    const std::vector<size_t> columns = PlacesIn(*table.node_grids, *node_grids);
    if (rows.empty() || columns.empty()) continue;
    const size_t width = table.node_grids->size();
    if (rows.size() == table.tensor_grids->size() && columns.size() == width) return table.costs;
    return Part(table.costs, rows, columns, width);
  }
  return {};
}

void TableCache::Add(const CostKey& use, GridList tensor_grids, GridList node_grids,
                     CostsByGrid costs) {
  tables_[use].push_back({std::move(tensor_grids), std::move(node_grids), std::move(costs)});
}

}  // namespace yuba::search
