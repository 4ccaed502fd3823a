// What the device receives that waits longest for one use of a tensor, for two choices, without a
// look at single devices.
//
// Equal to the longest of GatherMoved and ReduceMoved (opsemantics/sharding/moved.h). What a device
// reads (of a reduction: owns) and what a group of devices has (of a reduction: wrote) are products
// over the factors of the definition's boxes, so what it gets from the group is one too. Factors
// that share no mesh axis are independent: every combination of their values is some device's. Few
// different values occur.
//
// Example: x f32[8, 8] on a=2 b=2 as [8/ab, 8], read by rows whole: each of 4 devices has a quarter
// of what it reads. The factor of the rows has the values {own 2 of 8 rows, 1 shard; all 8, 4
// shards}, that of the columns {8, 1; 8, 1}: 3 messages and 3 * 2 * 8 elements.
#ifndef YUBA_SEARCH_COST_BUSIEST_DEVICE_H_
#define YUBA_SEARCH_COST_BUSIEST_DEVICE_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/sharding/sharding.h"
#include "search/cost/part_boxes.h"
#include "search/plan/choice.h"
#include "search/plan/objective.h"

namespace yuba::search {

// Not for several threads at a time.
class BusiestDevice {
 public:
  // The gather of operand `operand`; `operand` < 0: the reduction into the result. All arguments
  // must outlive this.
  BusiestDevice(const Definition& definition, int operand, const Mesh& mesh,
                const Objective& objective, Regions& whole, Regions& partial);

  // Nanoseconds of one exchange. The definition neither writes nor combines partials that stay
  // unreduced.
  int64_t Exchange(const Choice& tensor, const Choice& node);

 private:
  // Of a device: how many elements of what it needs it has itself, its group of kind 0 has, of kind
  // 1, ...; then in how many boxes these lie; last the elements of its shard.
  using Levels = std::vector<int64_t>;
  // The levels of one factor by the device's coordinates on the axes that it depends on.
  struct FactorLevels {
    std::vector<int> axes;       // ascending
    std::vector<Levels> values;  // different ones
    std::vector<int> of;         // row-major by `axes`: number in `values`
  };
  class Parts;
  class Holdings;

  const FactorLevels& LevelsOf(Regions& regions, int factor, const Choice& tensor,
                               const Choice& node);
  // `lists`: the axes of the factor's dimensions, then of its indices.
  FactorLevels LevelsOfParts(const BoxFactor& factor, const PartBoxes& pieces,
                             const std::vector<AxisList>& lists) const;
  // Of a reduction index that decides no box and is cut over these axes: each part is a partial.
  const FactorLevels& LevelsOfTerms(const AxisList& axes);
  void AddTerms(const AxisList& axes, Levels& levels) const;
  // The products of the factors' levels over all devices, each once: of factors that share axes; of
  // all.
  std::vector<Levels> Multiplied(const std::vector<const FactorLevels*>& group) const;
  std::vector<Levels> AllCombinations(std::vector<const FactorLevels*> factors) const;
  // `owners`: [kind] how many devices of a group own one element.
  // The levels of the device that waits longest, where all extents divide and axes that meet digit
  // by digit have equal sizes, as on most uses: then that is a device whose groups have nothing of
  // what it needs for as long as axes allow. False where it is no such case.
  bool EvenLevels(Regions& regions, const Choice& tensor, const Choice& node, Levels& levels);
  bool IsEven(Regions& regions, int factor, const Choice& node);
  Moved MovedBy(const Levels& levels, const std::vector<int64_t>& owners, bool sums) const;

  const Definition& definition_;
  const int operand_;
  const Mesh& mesh_;
  const Objective& objective_;
  const TensorType type_;
  const size_t kinds_;
  Regions& whole_;
  Regions& partial_;
  // By regions (whole or partial), factor, and the axes of its dimensions and indices.
  std::map<std::pair<int, std::vector<AxisList>>, FactorLevels> known_[2];
  std::map<AxisList, FactorLevels> repeated_;
  // By factor and the number of its parts: PartBoxes::even.
  absl::flat_hash_map<std::pair<int, int64_t>, bool> even_[2];
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_BUSIEST_DEVICE_H_
