// Grids: into how many parts a choice cuts each extent, whatever the names and the order of the
// axes.
//
// Parts are counted by the kind of the axes that make them (opsemantics/base/mesh.h). As sizes are
// prime, these numbers say how many axes of each class cut an extent: what is left of a choice when
// axes of one class have no names. Example: on the axes a=2 b=2 of one kind the choices [8/a, 8/b]
// and [8/b, 8/a] have the grid {{2, 2}}, [8/ab, 8] and [8/ba, 8] have {{4, 1}}. Where b is of kind
// 1 the first two differ, {{2, 1}, {1, 2}} and {{1, 2}, {2, 1}}, and the others have
// {{2, 1}, {2, 1}}.
#ifndef YUBA_SEARCH_PLAN_GRID_H_
#define YUBA_SEARCH_PLAN_GRID_H_

#include <cstdint>
#include <vector>

#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// [kind of axes][extent]: into how many parts axes of that kind cut it. In writing, a grid of one
// kind has one pair of braces: {4, 2}.
using Grid = std::vector<std::vector<int>>;

Grid GridOf(const Sharding& choice, const Mesh& mesh);

// The grid of some of the extents, in this order.
Grid GridAlong(const Grid& grid, const std::vector<int>& extents);

// [extent]: into how many parts it is cut, by axes of all kinds.
std::vector<int> PartsOf(const Grid& grid);

// All numbers multiplied: of the parts of all extents, how many parts there are.
int64_t Product(const std::vector<int>& parts);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_GRID_H_
