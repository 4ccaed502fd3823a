// A cut that follows others: axes go where neighbours have them, as far as a grid allows.
#ifndef YUBA_SEARCH_SPACE_FOLLOW_H_
#define YUBA_SEARCH_SPACE_FOLLOW_H_

#include <vector>

#include "search/space/domain.h"
#include "search/space/grid_space.h"

namespace yuba::search {

// By extent the axes that a neighbour would like to see there, outermost first.
using Wish = std::vector<AxisList>;

// The dimension of the operand (the result where operand < 0) that runs along each index, or -1.
std::vector<int> DimsAlong(const Definition& definition, int operand);

// A maximal cut of the grid: each extent takes axes from the wishes, earlier ones first, then
// others in the order of the mesh, or against it if `backwards`.
Cut CutOfGrid(const Grid& grid, const std::vector<const Wish*>& wishes, const Mesh& mesh,
              bool backwards);

// A legal cut of any grid: all that the wishes ask for as far as it fits, then, where axes may not
// be left out, other axes where there is most room.
Cut CutByWishes(const CutSpace& space, const std::vector<const Wish*>& wishes, const Mesh& mesh);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_FOLLOW_H_
