#include "search/solve/pruned_table.h"

#include <algorithm>

namespace yuba::search {

Members::Members(const Domain& domain, const Classes& classes)
    : values(classes.count), orbits(classes.count, 0), of(classes.of), label(domain.size) {
  std::vector<int> least = OrbitRepresentatives(domain);
  std::vector<bool> is_least(domain.size, false);
  for (int value : least) {
    is_least[value] = true;
    ++orbits[of[value]];
    values[of[value]].push_back(value);
  }
  for (int value = 0; value < domain.size; ++value) {
    if (!is_least[value]) values[of[value]].push_back(value);
  }
  for (const std::vector<int>& list : values) {
    for (size_t i = 0; i < list.size(); ++i) label[list[i]] = static_cast<int>(i);
  }
  for (const std::vector<int>& list : values) {
    images.emplace_back();
    for (const std::vector<int>& image : domain.images) {
      images.back().emplace_back();
      for (int value : list) images.back().back().push_back(label[image[value]]);
    }
  }
}

PrunedTable Labelled(const Factor& factor, const std::vector<int>& scope,
                     const std::vector<MembersPtr>& members) {
  PrunedTable table;
  table.cells.reserve(factor.cells->size());
  const Members& last = *members[scope.back()];
  auto close = [&](size_t begin) {
    table.place.push_back(static_cast<int64_t>(begin));
    table.least.push_back(*std::min_element(table.cells.begin() + begin, table.cells.end()));
  };
  if (scope.size() == 1) {
    for (const std::vector<int>& values : last.values) {
      const size_t begin = table.cells.size();
      for (int value : values) table.cells.push_back((*factor.cells)[value]);
      close(begin);
    }
    return table;
  }
  const Members& first = *members[scope[0]];
  const bool straight = factor.scope == scope;
  const int64_t first_stride = straight ? static_cast<int64_t>(last.of.size()) : 1;
  const int64_t last_stride = straight ? 1 : static_cast<int64_t>(first.of.size());
  for (const std::vector<int>& rows : first.values) {
    for (const std::vector<int>& columns : last.values) {
      const size_t begin = table.cells.size();
      for (int row : rows) {
        for (int column : columns) {
          table.cells.push_back((*factor.cells)[row * first_stride + column * last_stride]);
        }
      }
      close(begin);
    }
  }
  return table;
}

}  // namespace yuba::search
