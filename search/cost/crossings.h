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
#include <vector>

#include "opsemantics/definition/definition.h"
#include "search/cost/part_boxes.h"
#include "search/plan/objective.h"

namespace yuba::search {

// Of all pairs of a tensor's grid and a node's grid. Grids that cut a factor of the boxes alike are
// looked at once.
class Crossings {
 public:
  // A gather of operand `operand`, or with `operand` < 0 a reduction, that neither writes nor
  // combines partials that stay unreduced. `sums`: all node grids cut the reduction. `regions`: of
  // the use, and where `sums` of parts of the reduction.
  Crossings(const Definition& definition, int operand, const Mesh& mesh,
            const std::vector<Grid>& tensor_grids, const std::vector<Grid>& node_grids, bool sums,
            Regions& regions);

  // For the grids of these numbers. `arriving`: the elements that devices need and somebody has or
  // wrote, summed over devices, or 0 where that is not known. Sets in `least` the bytes of all
  // kinds but 0, with `size` bytes an element, and raises the messages of all kinds.
  void Add(size_t tensor_grid, size_t node_grid, int64_t arriving, int64_t size,
           LeastMoved* least) const;

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
  // How the grids cut one factor.
  struct FactorTable {
    std::vector<int> rows, columns;                     // [grid]: its kind of cut
    std::vector<std::vector<std::vector<Near>>> pairs;  // [row kind][column kind][kind of links]
  };
  // Of reduction indices that decide no box, for one kind of links: partials of an element that a
  // group has, and that others have.
  struct Partials {
    int64_t near = 1, outside = 1;
  };

  FactorTable TableOf(int factor, const std::vector<Grid>& tensor_grids,
                      const std::vector<Grid>& node_grids, Regions& regions) const;
  Near Gathered(const std::vector<int64_t>& extents, const Grid& tensor, const PartBoxes& pieces,
                size_t kind) const;
  Near Reduced(const std::vector<int64_t>& extents, const Grid& tensor,
               const std::vector<int>& indices, const Grid& node, const PartBoxes& pieces,
               size_t kind) const;
  int64_t Found(const std::vector<const Near*>& factors, int64_t repeated) const;

  const Definition& definition_;
  const bool reduces_, sums_;
  const TensorType type_;
  const int64_t devices_;
  const size_t kinds_;
  std::vector<FactorTable> factors_;
  std::vector<std::vector<Partials>> partials_;  // [node grid][kind of links]
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_CROSSINGS_H_
