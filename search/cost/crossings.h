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

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "opsemantics/definition/definition.h"
#include "search/cost/part_boxes.h"
#include "search/plan/objective.h"

namespace yuba::search {

// Of all pairs of a tensor's grid and a node's grid. Not for several threads at a time. Grids that
// cut a factor of the boxes alike are looked at once.
class Crossings {
 public:
  // A gather of operand `operand`, or with `operand` < 0 a reduction, that neither writes nor
  // combines partials that stay unreduced. `sums`: all node grids cut the reduction. `regions`: of
  // the use, and where `sums` of parts of the reduction.
  Crossings(const Definition& definition, int operand, const Mesh& mesh,
            const std::vector<Grid>& tensor_grids, const std::vector<Grid>& node_grids, bool sums,
            Regions& regions);

  // For the grids of these numbers. `arriving`: the elements that devices need and somebody has or
  // wrote, summed over devices. Sets in `least` the bytes of all kinds but 0, with `size` bytes an
  // element, and raises the messages of all kinds.
  void Add(size_t tensor_grid, size_t node_grid, int64_t arriving, int64_t size, LeastMoved* least);

 private:
  using Wide = __int128;
  // A mean over the parts that devices may need: a fraction in lowest terms.
  struct Mean {
    int64_t sum = 0;
    int64_t of = 1;  // 0: it is not known
    void Reduce();
  };
  // What devices find in their groups of one factor: elements, or parts that others have.
  struct Found {
    Mean mean;
    int64_t greatest = 0;  // of one part
    Mean other;            // another bound of the mean

    void Add(int64_t found) {
      mean.sum += found;
      greatest = std::max(greatest, found);
    }
  };
  // Of one factor, and of one kind of links: what is found in groups of lesser kinds.
  struct Near {
    Found elements, parts;
  };
  // Two ways in which grids cut one factor.
  struct Cut {
    int64_t needed = 1;  // how many parts devices may need
    Mean met;            // with how many parts of others these have elements in common
    absl::InlinedVector<Near, 2> near;  // [kind of links]; mostly two kinds, looked at in each cell
    bool has_others = false;            // whether any Found has another mean
  };
  // How the grids cut one factor.
  struct FactorTable {
    std::vector<int> rows, columns;       // [grid]: its kind of cut
    std::vector<std::vector<Cut>> pairs;  // [row kind][column kind]
  };
  // Of reduction indices that decide no box: of the partials of an element, [kind of links], those
  // that a group of lesser kinds has, and all.
  struct Partials {
    std::vector<int64_t> near;
    int64_t all = 1;
  };
  // Of what several devices own: how many own one element, and [kind] of a group of lesser kinds.
  struct Owners {
    std::vector<int64_t> near;
    int64_t all = 1;
  };

  FactorTable TableOf(int factor, const std::vector<Grid>& tensor_grids,
                      const std::vector<Grid>& node_grids, Regions& regions) const;
  void SetMeans(const Grid& had, const std::vector<int64_t>& needed, int64_t elements,
                Cut& cut) const;
  Cut Gathered(const std::vector<int64_t>& extents, const Grid& tensor,
               const PartBoxes& pieces) const;
  Cut Reduced(const std::vector<int64_t>& extents, const Grid& tensor,
              const std::vector<int>& indices, const Grid& node, const PartBoxes& pieces) const;
  void Finish(Cut& cut) const;
  int64_t FoundBy(const std::vector<const Cut*>& cuts, size_t kind, Found Near::* what,
                  int64_t repeated, bool has_others) const;

  const Definition& definition_;
  const bool reduces_, sums_;
  const TensorType type_;
  const int64_t devices_, elements_;
  const size_t kinds_;
  std::vector<FactorTable> factors_;
  std::vector<Partials> partials_;  // [node grid]
  std::vector<const Cut*> cuts_;    // of Add, by factor
  std::vector<Owners> owners_;      // [tensor grid]
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_CROSSINGS_H_
