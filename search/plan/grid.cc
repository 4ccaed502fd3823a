#include "search/plan/grid.h"

namespace yuba::search {

Grid GridOf(const Sharding& choice, const Mesh& mesh) {
  Grid grid(mesh.kinds(), std::vector<int>(choice.axes.size(), 1));
  for (size_t e = 0; e < choice.axes.size(); ++e) {
    for (const uint8_t axis : choice.axes[e]) grid[mesh.axes[axis].kind][e] *= mesh.axes[axis].size;
  }
  return grid;
}

Grid GridAlong(const Grid& grid, const std::vector<int>& extents) {
  Grid some;
  for (const std::vector<int>& parts : grid) {
    some.emplace_back();
    for (const int e : extents) some.back().push_back(parts[e]);
  }
  return some;
}

std::vector<int> PartsOf(const Grid& grid) {
  std::vector<int> parts = grid[0];
  for (size_t kind = 1; kind < grid.size(); ++kind) {
    for (size_t e = 0; e < parts.size(); ++e) parts[e] *= grid[kind][e];
  }
  return parts;
}

int64_t Product(const std::vector<int>& parts) {
  int64_t product = 1;
  for (const int count : parts) product *= count;
  return product;
}

}  // namespace yuba::search
