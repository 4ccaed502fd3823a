// A choice that follows its neighbours: axes go where neighbours have them, as far as they fit.
//
// Example: a tensor of the grid {4, 2} on the axes a b c of size 2, one of whose readers wants b on
// the first dimension. ChoiceOfGrid puts b there, then fills up in the order of the mesh: [8/ba,
// 8/c]. With these choices little moves between neighbours, so searches start from them.
#ifndef YUBA_SEARCH_SPACE_FOLLOW_H_
#define YUBA_SEARCH_SPACE_FOLLOW_H_

#include <vector>

#include "search/plan/choice.h"
#include "search/space/domain.h"
#include "search/space/grid_space.h"

namespace yuba::search {

// [extent]: the axes that a neighbour wants there, outermost first.
using WantedAxes = std::vector<AxisList>;

// A choice of this grid. Each extent takes the wanted axes, those of earlier neighbours first, as
// far as its number of parts allows; then others in the order of the mesh, or against it if
// `backwards`. The mesh must have the axes of the grid.
Choice ChoiceOfGrid(const Grid& grid, const std::vector<const WantedAxes*>& wanted,
                    const Mesh& mesh, bool backwards);

// A legal choice of any grid. It takes all wanted axes that fit, those of earlier neighbours first;
// then, unless the space is `optional`, each other axis on the extent with the most room.
Choice FollowNeighbours(const ChoiceSpace& space, const std::vector<const WantedAxes*>& wanted,
                        const Mesh& mesh);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_FOLLOW_H_
