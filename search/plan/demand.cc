#include "search/plan/demand.h"

#include <algorithm>

namespace yuba::search {

bool Meets(const Sharding& choice, const Demands& demands) {
  for (size_t e = 0; e < demands.size(); ++e) {
    AxisList found;
    for (const uint8_t axis : choice.axes[e]) {
      const AxisList& wanted = demands[e].axes;
      const bool is_wanted = std::find(wanted.begin(), wanted.end(), axis) != wanted.end();
      if (is_wanted) found.push_back(axis);
      if (!is_wanted && !demands[e].others) return false;
    }
    if (found != demands[e].axes) return false;
  }
  return true;
}

bool MayMeet(const Mesh& mesh, const Grid& grid, const Demands& demands) {
  Sharding demanded;
  for (const Demand& demand : demands) demanded.axes.push_back(demand.axes);
  const Grid wanted = GridOf(demanded, mesh);
  for (size_t kind = 0; kind < grid.size(); ++kind) {
    for (size_t e = 0; e < demands.size(); ++e) {
      const int parts = grid[kind][e], least = wanted[kind][e];
      if (demands[e].others ? parts % least != 0 : parts != least) return false;
    }
  }
  return true;
}

}  // namespace yuba::search
