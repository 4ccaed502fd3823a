// What a use moves over links of outer kinds at least, and in how many messages, for two grids.
//
// A group of kind c is the devices that links of kinds up to c join. What the devices of a group
// have of a tensor, or wrote of it, is in each dimension at most as much as the parts of their axes
// together; so a device finds no more than that of what it needs within its group, and the rest
// crosses links of greater kinds. A message brings at most what one device has. Both hold for any
// axes and any order of them in an extent, which may spread a group's elements out.
//
// Example: x f32[8, 8], {{1, 1}, {2, 1}} (cut in 2 by links of kind 1), read whole by 4 devices in
// groups of 2: each finds 4 of 8 rows in its group, so 4 * 32 elements cross, in one message each.
#ifndef YUBA_SEARCH_COST_CROSSINGS_H_
#define YUBA_SEARCH_COST_CROSSINGS_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "search/cost/part_boxes.h"
#include "search/plan/objective.h"

namespace yuba::search {

// Not for several threads at a time.
class Crossings {
 public:
  // A gather of operand `operand`, or with `operand` < 0 a reduction, that neither writes nor
  // combines partials that stay unreduced. All arguments must outlive this.
  Crossings(const Definition& definition, int operand, const Mesh& mesh)
      : definition_(definition),
        reduces_(operand < 0),
        type_(reduces_ ? definition.result : definition.operands[operand]),
        devices_(mesh.devices()),
        kinds_(mesh.kinds()) {}

  // `regions`: of the use, and where `sums` of parts of the reduction. `arriving`: the elements
  // that devices need and somebody has or wrote, summed over devices, or 0 where that is not known.
  // Adds to `least` the bytes of all kinds but 0, with `size` bytes an element, and the messages of
  // all kinds.
  void Add(const Grid& tensor, const Grid& node, Regions& regions, bool sums, int64_t arriving,
           int64_t size, LeastMoved* least);

 private:
  using Wide = __int128;
  // Of one factor, and of one kind of links: what devices find in groups of lesser kinds.
  struct Near {
    Wide sum = 0;          // elements, over all parts that devices may need
    int64_t parts = 1;     // how many these are
    int64_t greatest = 0;  // elements, of one part
    Wide mean = 0;         // another bound of the mean of the elements, mean / mean_of
    Wide mean_of = 0;      // 0: there is none
    int64_t groups = 1;    // of how many groups each needs something, at least
  };
  struct FactorGrid {
    int factor;
    bool sums;
    Grid tensor, node;
    bool operator<(const FactorGrid& other) const {
      return std::tie(factor, sums, tensor, node) <
             std::tie(other.factor, other.sums, other.tensor, other.node);
    }
  };

  const std::vector<Near>& NearOf(FactorGrid grid, Regions& regions, const Grid& node);
  Near Gathered(const FactorGrid& grid, const std::vector<int64_t>& extents,
                const PartBoxes& pieces, size_t kind) const;
  Near Reduced(const FactorGrid& grid, const std::vector<int64_t>& extents,
               const std::vector<int>& indices, const PartBoxes& pieces, size_t kind) const;
  int64_t Found(const std::vector<const Near*>& factors, int64_t repeated) const;

  const Definition& definition_;
  const bool reduces_;
  const TensorType type_;
  const int64_t devices_;
  const size_t kinds_;
  std::map<FactorGrid, std::vector<Near>> known_;  // [kind]
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_CROSSINGS_H_
