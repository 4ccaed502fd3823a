// A choice that follows others: axes go where neighbours have them, as far as a grid allows.
#ifndef YUBA_SEARCH_SPACE_FOLLOW_H_
#define YUBA_SEARCH_SPACE_FOLLOW_H_

#include <vector>

#include "search/plan/choice.h"
#include "search/space/domain.h"
#include "search/space/grid_space.h"

namespace yuba::search {

// By extent the axes that a neighbour would like to see there, outermost first.
using WantedAxes = std::vector<AxisList>;

// The dimension of the operand (the result where operand < 0) that runs along each index, or -1.
std::vector<int> DimsAlong(const Definition& definition, int operand);

// A maximal cut of the grid: each extent takes axes from the wanted axes, earlier ones first, then
// others in the order of the mesh, or against it if `backwards`.
Choice ChoiceOfGrid(const Grid& grid, const std::vector<const WantedAxes*>& wanted,
                    const Mesh& mesh, bool backwards);

// A legal choice of any grid: all that the wanted axes ask for as far as it fits, then, where axes
// may not be left out, other axes where there is most room.
Choice FollowNeighbours(const ChoiceSpace& space, const std::vector<const WantedAxes*>& wanted,
                        const Mesh& mesh);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_FOLLOW_H_
