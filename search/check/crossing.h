// The checker's own bounds of what crosses links of outer kinds (search/plan/objective.h): for two
// grids, whatever the axes.
//
// A device needs one part of each factor of a use: of a gather a box that the node reads, of a
// reduction its shard. It comes from the pieces that others have, shards or written boxes. Devices
// that links of kinds below c join have at most so many pieces as their axes make, and so many
// times the elements of the largest. The rest comes over links of kind c or greater, with a message
// for each piece.
#ifndef YUBA_SEARCH_CHECK_CROSSING_H_
#define YUBA_SEARCH_CHECK_CROSSING_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "opsemantics/base/mesh.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/regions/box_factors.h"
#include "search/check/overlap.h"
#include "search/plan/link_terms.h"
#include "search/plan/objective.h"

namespace yuba::search {

// Of one factor: what devices that links of some kinds join have of the parts that they need.
struct Reach {
  Large total = 0;   // over all needed parts
  int64_t most = 0;  // of one of them
  Large mean = 0;    // the mean is also at most mean / mean_of; mean_of 0: that is not known
  Large mean_of = 0;
};
struct FactorReach {
  int64_t parts = 1;   // how many needed parts there are
  Large meetings = 0;  // pairs of a needed part and a piece that have elements in common
  // [kind]: within reach of links of lesser kinds; no elements of kind 0, whose bytes overlap.h
  // counts
  std::vector<Reach> elements, pieces;
};
// [kind]: how many partials of each element axes of that kind make in indices of the factor.
// `sums`: the node writes partials that are added up; else 1.
std::vector<int> CopiesByKind(const Definition& definition, const BoxFactor& factor,
                              const Grid& cut, bool sums);

// `shards`: how the tensor's dimensions of the factor are cut; `boxes`, `cut`: the node's boxes,
// and how the factor's indices are cut. `sums`: the node writes partials that are added up.
FactorReach ReachOfGather(const std::vector<int64_t>& extents, const Grid& shards,
                          const FactorParts& boxes);
FactorReach ReachOfReduction(const Definition& definition, const BoxFactor& factor,
                             const std::vector<int64_t>& extents, const Grid& shards,
                             const FactorParts& boxes, const Grid& cut, bool sums);

// How many devices have one element of a tensor: of those within reach, [kind], and of all.
struct OwnersReach {
  std::vector<int64_t> within;
  int64_t all = 1;
};
OwnersReach OwnersReachOf(const Mesh& mesh, const Grid& tensor);

// One use, but for its factors.
struct UseReach {
  int64_t devices = 1;
  const OwnersReach* owners = nullptr;
  // [kind] how many partials of each element axes of that kind make in indices that are in no
  // factor
  absl::Span<const int64_t> repeated;
  bool sums = false;
  int64_t arriving = 0;  // elements that devices need, all together, whoever combines partials
  int64_t size = 0;      // bytes of an element that arrives
  int64_t elements = 0, result_size = 0;  // of the tensor
};
// What crosses, added to `least`: of the near term only messages, of the far term only bytes, and
// the messages of owners that combine partials for others.
void AddCrossing(const UseReach& use, absl::Span<const FactorReach* const> factors, LinkTerm term,
                 LeastMoved* least);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_CROSSING_H_
