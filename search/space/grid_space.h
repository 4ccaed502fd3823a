// Grids: into how many parts a choice takes each extent, whatever the names and the order of the
// axes. Axes have prime sizes, so the number of parts says how many axes of each size cut the
// extent.
#ifndef YUBA_SEARCH_SPACE_GRID_SPACE_H_
#define YUBA_SEARCH_SPACE_GRID_SPACE_H_

#include <memory>
#include <vector>

#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice.h"
#include "search/plan/choice_space.h"

namespace yuba::search {

using Grid = std::vector<int>;  // by extent: the number of its parts
using GridList = std::shared_ptr<const std::vector<Grid>>;

// The grids of all legal cuts over all axes of the mesh (LegalChoices), in lexicographic order.
std::vector<Grid> AllGrids(const ChoiceSpace& space, const Mesh& mesh);

Grid GridOf(const Choice& choice, const Mesh& mesh);

// Whether cuts of these grids may keep groups (KeepsGroups of choice_space.h): each of the
// reader's groups shares the partials out.
bool MayKeepGroups(const Grid& partials, const Grid& reader);

// How many choices have that grid: which axes of each size cut each extent, in any order of those
// of one extent, or with `level` in that of the mesh.
int64_t CountChoicesOfGrid(const Grid& grid, const Mesh& mesh, bool level);

// The place of a grid in a list in lexicographic order, which must have it.
int PositionOfGrid(const Grid& grid, const std::vector<Grid>& grids);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_GRID_SPACE_H_
