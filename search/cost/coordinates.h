// All coordinates on some axes of a mesh.
#ifndef YUBA_SEARCH_COST_COORDINATES_H_
#define YUBA_SEARCH_COST_COORDINATES_H_

#include <vector>

#include "opsemantics/base/mesh.h"

namespace yuba::search {

// Calls visit(coordinates) for all coordinates on these axes, row-major.
template <typename Visit>
void ForEachCoordinates(const Mesh& mesh, const std::vector<int>& axes, const Visit& visit) {
  std::vector<int> at(axes.size(), 0);
  while (true) {
    visit(at);
    size_t a = at.size();
    while (a > 0 && ++at[a - 1] == mesh.axes[axes[a - 1]].size) at[--a] = 0;
    if (a == 0) return;
  }
}

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_COORDINATES_H_
