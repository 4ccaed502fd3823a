// Grids: into how many parts a cut takes each extent, whatever the names and the order of the axes.
// Axes have prime sizes, so the number of parts says how many axes of each size cut the extent.
#ifndef YUBA_SEARCH_SPACE_GRID_SPACE_H_
#define YUBA_SEARCH_SPACE_GRID_SPACE_H_

#include <memory>
#include <vector>

#include "opsemantics/sharding/sharding.h"
#include "search/plan/sharding_space.h"

namespace yuba::search {

using Grid = std::vector<int>;  // by extent: the number of its parts
using GridList = std::shared_ptr<const std::vector<Grid>>;

// The grids of all legal cuts over all axes of the mesh (LegalCuts), in lexicographic order.
std::vector<Grid> AllGrids(const CutSpace& space, const Mesh& mesh);

Grid GridOf(const Cut& cut, const Mesh& mesh);

// Whether cuts of these grids may keep groups (KeepsGroups of sharding_space.h): each of the
// reader's groups shares the addend out.
bool MayKeepGroups(const Grid& addend, const Grid& reader);

// How many cuts have that grid: which axes of each size cut each extent, in any order of those of
// one extent, or with `level` in that of the mesh.
int64_t CutsOfGrid(const Grid& grid, const Mesh& mesh, bool level);

// The place of a grid in a list in lexicographic order, which must have it.
int PlaceOfGrid(const Grid& grid, const std::vector<Grid>& grids);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_GRID_SPACE_H_
