// The checker's own bounds of what crosses links of outer kinds (search/plan/objective.h): for two
// grids, whatever the axes.
//
// A device needs one part of each factor of a use: of a gather a box that the node reads, of a
// reduction its shard. Devices that links of kinds below c join have at most so many elements of
// it: those of one part of their side times the number of parts that axes of these kinds make. The
// rest comes over links of kind c or greater, and from at least as many groups as it takes to hold
// the part.
#ifndef YUBA_SEARCH_CHECK_CROSSING_H_
#define YUBA_SEARCH_CHECK_CROSSING_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "opsemantics/regions/box_factors.h"
#include "search/check/overlap.h"
#include "search/plan/objective.h"

namespace yuba::search {

// Of one factor and one kind of links.
struct WithinReach {
  Large total = 0;    // elements that are within reach, over all needed parts
  int64_t parts = 1;  // how many needed parts there are
  int64_t most = 0;   // of one of them
  Large mean = 0;     // the mean is also at most mean / mean_of; mean_of 0: that is not known
  Large mean_of = 0;
  int64_t groups = 0;  // that each needed part takes, at least
};

// [kind]. `shards`: how the tensor's dimensions of the factor are cut; `boxes`, `cut`: the node's
// boxes, and how the factor's indices are cut. `sums`: the node writes partials that are added up.
std::vector<WithinReach> ReachOfGather(const std::vector<int64_t>& extents, const Grid& shards,
                                       const FactorParts& boxes);
std::vector<WithinReach> ReachOfReduction(const Definition& definition, const BoxFactor& factor,
                                          const std::vector<int64_t>& extents, const Grid& shards,
                                          const FactorParts& boxes, const Grid& cut, bool sums);

// What crosses, in elements of `size` bytes, added to `least`. `factors`: [factor][kind].
// `repeated`: [kind] how many partials of each element axes of that kind make in indices that are
// in no factor. `arriving`: elements that devices need, all together; 0: not known.
void AddCrossing(int64_t devices, const std::vector<const std::vector<WithinReach>*>& factors,
                 const std::vector<int64_t>& repeated, int64_t arriving, int64_t size,
                 LeastMoved* least);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_CROSSING_H_
