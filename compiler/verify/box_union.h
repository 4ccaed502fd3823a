// A set of elements of one tensor, kept as disjoint boxes: what a device has of it, say.
// Example: after Add([0, 4) x [0, 8)) and Add([2, 6) x [0, 8)), Missing([0, 8) x [0, 8)) is
// [6, 8) x [0, 8).
//
// A set of many boxes keeps their begins sorted, so that a question looks at boxes near the asked
// one only. The parts of one tensor on a thousand devices are added and asked for in about n^1.5
// steps at worst, in n log n where one dimension is cut.
#ifndef YUBA_COMPILER_VERIFY_BOX_UNION_H_
#define YUBA_COMPILER_VERIFY_BOX_UNION_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/box.h"

namespace yuba::compiler {

// An order of boxes of one rank, for maps.
struct BoxLess {
  bool operator()(const Box& a, const Box& b) const {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(), [](const Interval& x, const Interval& y) {
          return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
        });
  }
};

class BoxUnion {
 public:
  // Boxes have the tensor's rank and may be empty; what is added may overlap what is there.
  void Add(const Box& box);
  // Whether the set and `box` have an element in common.
  bool Touches(const Box& box) const;
  // A box of elements of `box` that are not in the set; nothing where all of them are.
  absl::optional<Box> Missing(const Box& box) const;

 private:
  // Of one dimension: where boxes begin, ascending, with their positions in boxes_; and the length
  // of the longest interval.
  struct Begins {
    std::vector<std::pair<int64_t, int>> sorted;
    int64_t longest = 0;
  };

  void Append(Box box);
  // Those that may have an element in common with `box`, among them all that have one.
  std::vector<const Box*> Near(const Box& box) const;
  int64_t CountOf(const Box& box) const;        // elements of `box` that are in the set
  std::vector<Box> Rest(const Box& box) const;  // those that are not, as disjoint boxes

  std::vector<Box> boxes_;     // disjoint, none empty
  std::vector<Begins> index_;  // [dimension]; empty while there are few boxes
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_BOX_UNION_H_
