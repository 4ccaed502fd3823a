// What a use moves over links of outer kinds at least, and in how many messages, for two grids.
//
// A group of kind c is the devices that links of kinds up to c join. What the devices of a group
// have of a tensor, or wrote of it, is in each dimension at most as much as the parts of their axes
// together; so a device finds no more than that of what it needs within its group, and the rest
// crosses links of greater kinds. A message brings one device's part of what is needed, so the same
// holds of messages, with parts counted in place of their elements. Both hold for any axes and any
// order of them in an extent, which may spread a group's parts out.
//
// Example: x f32[8, 8], {{1, 2}, {2, 1}} (its rows cut in 2 by links of kind 1, its columns by
// links of kind 0), read whole by 4 devices in groups of 2: each finds 4 of 8 rows in its group, in
// 2 of 4 parts. So 4 * 32 elements cross, in 4 * 2 messages.
#ifndef YUBA_SEARCH_COST_CROSSINGS_H_
#define YUBA_SEARCH_COST_CROSSINGS_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "search/cost/crossing_bound.h"
#include "search/cost/part_boxes.h"
#include "search/plan/link_terms.h"
#include "search/plan/objective.h"

namespace yuba::search {

class Crossings {
 public:
  // A gather of operand `operand`, or with `operand` < 0 a reduction, that neither writes nor
  // combines partials that stay unreduced. `sums`: all node grids cut the reduction. `factors`: of
  // the use's boxes, and where `sums` of those of parts of the reduction. The definition must
  // outlive this.
  Crossings(const Definition& definition, int operand, const Mesh& mesh, bool sums,
            const std::vector<BoxFactor>& factors);

  bool reduces() const { return reduces_; }
  // Of these indices, cut so: [kind] how many partials axes of that kind make of each element.
  std::vector<int> PartialsByKind(const std::vector<int>& indices, const Grid& cut) const;

  // Of reduction indices that decide no box: of the partials of an element, [kind of links], those
  // that a group of lesser kinds has, and all.
  struct Partials {
    std::vector<int64_t> near;
    int64_t all = 1;
  };
  Partials PartialsOf(const Grid& node) const;
  // Of what several devices own: how many own one element, and [kind] of a group of lesser kinds.
  struct Owners {
    std::vector<int64_t> near;
    int64_t all = 1;
  };
  Owners OwnersOf(const Grid& tensor) const;

  // The bound of no factors: multiplying by it changes nothing.
  CrossingBound One() const;
  // The bound of one factor. `tensor`, `node`: how its dimensions and its indices are cut;
  // `pieces`: the same of the node's boxes.
  CrossingBound Of(const BoxFactor& factor, const Grid& tensor, const Grid& node,
                   const PartBoxes& pieces) const;

  // For two grids, with the bounds of all factors multiplied. `arriving`: the elements that devices
  // need and somebody has or wrote, summed over devices. Sets in `least` the bytes of all kinds but
  // 0, with `size` bytes an element, and raises the messages of all kinds. Of the near term nothing
  // but messages; of the far term bytes, and the messages that Owners tells of.
  void Add(const CrossingBound& found, const Owners& owners, const Partials& partials,
           int64_t arriving, int64_t size, LinkTerm term, LeastMoved* least) const;

 private:
  // Of one factor while parts are counted.
  struct Counts;
  CrossingBound Gathered(const std::vector<int64_t>& extents, const Grid& tensor,
                         const PartBoxes& pieces) const;
  CrossingBound Reduced(const std::vector<int64_t>& extents, const Grid& tensor,
                        const std::vector<int>& indices, const Grid& node,
                        const PartBoxes& pieces) const;
  void SetOthers(const Grid& had, const std::vector<int64_t>& needed, int64_t elements,
                 const Counts& counts, CrossingBound* bound) const;

  const Definition& definition_;
  const bool reduces_, sums_;
  const TensorType type_;
  const int64_t devices_, elements_;
  const size_t kinds_;
  const std::vector<int> groups_;  // [kind]: devices that links up to it join
  std::vector<bool> in_factor_;    // [index]: whether it decides a box
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_CROSSINGS_H_
