#include "search/check/grids.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

namespace yuba::search {

bool NextValues(const std::vector<int>& sizes, std::vector<int>* values) {
  for (size_t d = sizes.size(); d-- > 0;) {
    if (++(*values)[d] < sizes[d]) return true;
    (*values)[d] = 0;
  }
  return false;
}

std::vector<int> PlacesIn(const std::vector<int>& joint, const std::vector<int>& scope) {
  std::vector<int> places;
  for (int e : scope) {
    places.push_back(static_cast<int>(std::find(joint.begin(), joint.end(), e) - joint.begin()));
  }
  return places;
}

int64_t CellOf(const std::vector<int>& places, const std::vector<int>& sizes,
               const std::vector<int>& values) {
  int64_t cell = 0;
  for (int place : places) cell = cell * sizes[place] + values[place];
  return cell;
}

Renamings::value_type Unnamed(size_t count) {
  std::vector<int> same(count);
  std::iota(same.begin(), same.end(), 0);
  return std::make_shared<const std::vector<std::vector<int>>>(1, std::move(same));
}

GridTables::GridTables(const CostTables& costs) : costs_(costs) {
  for (size_t e = 0; e < costs.grids.size(); ++e) {
    choices_.push_back(Grouped(*costs.grids[e], *costs.renamed[e]));
    coarse_.push_back(Unnamed(choices_.back().of_grid.size()));
  }
}

GridTables::Choices GridTables::Grouped(const std::vector<int>& grids,
                                        const std::vector<std::vector<int>>& renamed) {
  Choices choices;
  choices.grid = grids;
  std::vector<int> place;  // by choice: in its grid
  for (size_t choice = 0; choice < grids.size(); ++choice) {
    if (grids[choice] >= static_cast<int>(choices.of_grid.size()))
      choices.of_grid.resize(grids[choice] + 1);
    place.push_back(static_cast<int>(choices.of_grid[grids[choice]].size()));
    choices.of_grid[grids[choice]].push_back(static_cast<int>(choice));
  }
  for (const std::vector<int>& of_grid : choices.of_grid) {
    std::vector<std::vector<int>> to;
    for (const std::vector<int>& renaming : renamed) {
      to.emplace_back();
      for (const int choice : of_grid) to.back().push_back(place[renaming[choice]]);
    }
    choices.renamed.push_back(std::make_shared<const std::vector<std::vector<int>>>(std::move(to)));
  }
  return choices;
}

int GridTables::CountIn(int element, const std::vector<int>& grids) const {
  int count = 0;
  for (int g : grids) count += static_cast<int>(ChoicesOf(element, g).size());
  return count;
}

CheckTable GridTables::ByGrid(const CheckTable& table) {
  std::vector<const void*> key = {table.cells.get()};
  std::vector<int> sizes, value(table.scope.size(), 0);
  int64_t size = 1;
  for (int e : table.scope) {
    key.push_back(costs_.grids[e].get());
    sizes.push_back(costs_.sizes[e]);
    size *= Grids(e);
  }
  CheckTable::Cells& known = by_grid_[key];
  if (known != nullptr) return {table.scope, known};
  std::vector<int64_t> least(size, std::numeric_limits<int64_t>::max());
  for (const int64_t cost : *table.cells) {
    int64_t at = 0;
    for (size_t i = 0; i < value.size(); ++i) {
      at = at * Grids(table.scope[i]) + choices_[table.scope[i]].grid[value[i]];
    }
    least[at] = std::min(least[at], cost);
    NextValues(sizes, &value);
  }
  known = std::make_shared<const std::vector<int64_t>>(std::move(least));
  return {table.scope, known};
}

CheckTable::Cells GridTables::OfChoices(const CheckTable& table,
                                        const std::vector<const std::vector<int>*>& choices) const {
  std::vector<int64_t> cells = {0};  // first their places, then the costs there
  for (size_t i = 0; i < choices.size(); ++i) {
    std::vector<int64_t> places;
    for (const int64_t place : cells) {
      for (const int choice : *choices[i])
        places.push_back(place * costs_.sizes[table.scope[i]] + choice);
    }
    cells = std::move(places);
  }
  for (int64_t& cell : cells) cell = (*table.cells)[cell];
  return std::make_shared<const std::vector<int64_t>>(std::move(cells));
}

std::vector<CheckTable> GridTables::OneOfEachScope(std::vector<CheckTable> tables) const {
  std::map<std::vector<int>, std::vector<CheckTable>> by_scope;
  for (CheckTable& table : tables) {
    std::vector<int> scope = table.scope;
    std::sort(scope.begin(), scope.end());
    by_scope[scope].push_back(std::move(table));
  }
  std::vector<CheckTable> sums;
  for (auto& [scope, terms] : by_scope) {
    sums.push_back(terms.size() > 1 ? SumOf(scope, terms) : std::move(terms[0]));
  }
  return sums;
}

CheckTable GridTables::SumOf(const std::vector<int>& scope,
                             const std::vector<CheckTable>& terms) const {
  std::vector<int> sizes, value(scope.size(), 0);
  for (int e : scope) sizes.push_back(costs_.sizes[e]);
  std::vector<std::vector<int>> places;  // by term and entry of its scope
  for (const CheckTable& term : terms) places.push_back(PlacesIn(scope, term.scope));
  std::vector<int64_t> sums;
  do {
    sums.push_back(0);
    for (size_t t = 0; t < terms.size(); ++t) {
      sums.back() += (*terms[t].cells)[CellOf(places[t], sizes, value)];
    }
  } while (NextValues(sizes, &value));
  return {scope, std::make_shared<const std::vector<int64_t>>(std::move(sums))};
}

}  // namespace yuba::search
