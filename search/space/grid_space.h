// The grids of a tensor or a node (search/plan/grid.h).
//
// On ten axes of one class (1,024 devices) a node of four long indices has 286 grids and about 10^9
// choices.
#ifndef YUBA_SEARCH_SPACE_GRID_SPACE_H_
#define YUBA_SEARCH_SPACE_GRID_SPACE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice_space.h"
#include "search/plan/grid.h"

namespace yuba::search {

using GridList = std::shared_ptr<const std::vector<Grid>>;

// The grids of all legal choices over all axes of the mesh (LegalChoices), in lexicographic order.
std::vector<Grid> AllGrids(const ChoiceSpace& space, const Mesh& mesh);

// How many grids AllGrids lists, but no more than `most`; none is kept.
int64_t CountGrids(const ChoiceSpace& space, const Mesh& mesh, int64_t most);

// Whether some sharding and partition of these grids may keep groups (KeepsGroups of
// choice_space.h): of each kind, the parts of the partials times the reader's groups are all parts
// of the reader.
bool MayKeepGroups(const Grid& partials, const Grid& reader);

// How many choices have this grid: which axes of each class cut each extent, times the orders of
// the axes of one extent; with `level` only the order of the mesh counts. The mesh must have the
// axes.
int64_t CountChoicesOfGrid(const Grid& grid, const Mesh& mesh, bool level);

// The position of `grid` in `grids`, which must be in lexicographic order and have it.
int PositionOfGrid(const Grid& grid, const std::vector<Grid>& grids);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_GRID_SPACE_H_
