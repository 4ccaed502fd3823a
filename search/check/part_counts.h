// The checker's list of grids: all that legal choices can have. On a mesh of three axes of size 2
// and of one kind a tensor [32, 64] has {1, 8}, {2, 4}, {4, 2} and {8, 1}.
#ifndef YUBA_SEARCH_CHECK_PART_COUNTS_H_
#define YUBA_SEARCH_CHECK_PART_COUNTS_H_

#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice.h"
#include "search/plan/demand.h"
#include "search/plan/grid.h"

namespace yuba::search {

// In lexicographic order; of those, the ones that may meet the demands, if there are any. With
// `replicate`, and of transient tensors and of nodes of copies, axes that fit somewhere may be left
// out.
std::vector<Grid> EveryTensorGrid(const Mesh& mesh, const Tensor& tensor, bool replicate,
                                  const Demands& demands);
std::vector<Grid> EveryNodeGrid(const Mesh& mesh, const Definition& definition, bool copy,
                                const Demands& demands);

// One of the choices of that grid.
Choice CutIntoParts(const Mesh& mesh, Grid grid);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_PART_COUNTS_H_
