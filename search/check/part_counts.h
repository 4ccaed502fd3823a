// The checker's grids: all numbers of parts that choices can have.
#ifndef YUBA_SEARCH_CHECK_PART_COUNTS_H_
#define YUBA_SEARCH_CHECK_PART_COUNTS_H_

#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/check/overlap.h"
#include "search/plan/choice.h"

namespace yuba::search {

// In lexicographic order. `replicate`, or of a copy: axes may be left out that fit somewhere.
std::vector<Parts> EveryTensorGrid(const Mesh& mesh, const Tensor& tensor, bool replicate);
std::vector<Parts> EveryNodeGrid(const Mesh& mesh, const Definition& definition, bool copy);

// One of the cuts into so many parts.
Choice CutIntoParts(const Mesh& mesh, const Parts& parts);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_PART_COUNTS_H_
