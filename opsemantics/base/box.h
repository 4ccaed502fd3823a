// Intervals and boxes: the sets of elements that everything in Yuba is said in. What a device has,
// reads and writes of a tensor is one box, in the tensor's global coordinates: element (2, 5) has
// these coordinates on every device. Also here: into which parts an extent is cut (PartOf).
//
// Example: rows 2 and 3 of a [4, 8] tensor are the box [2, 4) x [0, 8), 16 elements.
// Subtract the box of row 3, [3, 4) x [0, 8), and the box of row 2 is the rest: [2, 3) x [0, 8).
//
// All types are plain values; bounds are in elements. Boxes of one operation have one rank.
#ifndef YUBA_OPSEMANTICS_BASE_BOX_H_
#define YUBA_OPSEMANTICS_BASE_BOX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace yuba {

// The integers i with begin <= i < end; empty where end <= begin.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end > begin ? end - begin : 0; }
  bool empty() const { return end <= begin; }
  bool Contains(const Interval& other) const {
    return other.empty() || (begin <= other.begin && other.end <= end);
  }
  friend bool operator==(const Interval& a, const Interval& b) {
    return a.begin == b.begin && a.end == b.end;
  }
  friend bool operator!=(const Interval& a, const Interval& b) { return !(a == b); }
};

Interval Intersect(const Interval& a, const Interval& b);
Interval Hull(const Interval& a, const Interval& b);  // the smallest interval that holds both

// The product of one interval for each dimension. The box of rank 0 is the one point of a scalar,
// so it is never empty.
using Box = std::vector<Interval>;

Box WholeBox(absl::Span<const int64_t> extents);    // [0, extent) in each dimension
int64_t Volume(const Box& box);                     // elements; 1 for rank 0
bool IsEmpty(const Box& box);                       // whether some interval is empty
bool Contains(const Box& outer, const Box& inner);  // an empty inner is always contained
bool SameSet(const Box& a, const Box& b);           // equal, or both empty
Box Intersect(const Box& a, const Box& b);
Box Hull(const Box& a, const Box& b);  // an empty operand adds nothing

// Disjoint boxes whose union is a \ b: at most two for each dimension, none where b contains a.
std::vector<Box> Subtract(const Box& a, const Box& b);

// What of `box` is outside all of `covered`, as disjoint boxes.
std::vector<Box> SubtractAll(const Box& box, absl::Span<const Box> covered);

std::string ToString(const Interval& interval);  // "[3, 8)"
std::string ToString(const Box& box);            // "[0, 4) x [3, 8)"

// Part number `part`, from 0 on, of an extent that is cut into `parts` parts:
// [floor(part*extent/parts), floor((part+1)*extent/parts)). Sizes differ by at most one, and where
// `parts` divides a larger number of parts, the bounds of the fewer parts are bounds of the more.
// An extent of 7 in 2 parts is [0, 3) and [3, 7). Parts are empty where there are more of them than
// elements. extent*parts must not overflow 64 bits, which holds for any tensor in memory.
Interval PartOf(int64_t extent, int64_t parts, int64_t part);

// Calls `visit(point)` for each point of `box` in row-major order; once, with no coordinates, for
// the box of rank 0.
template <typename Visit>
void ForEachPoint(const Box& box, Visit visit) {
  if (IsEmpty(box)) return;
  std::vector<int64_t> point;
  for (const Interval& interval : box) point.push_back(interval.begin);
  while (true) {
    visit(static_cast<const std::vector<int64_t>&>(point));
    int d = static_cast<int>(box.size()) - 1;
    while (d >= 0 && ++point[d] == box[d].end) {
      point[d] = box[d].begin;
      --d;
    }
    if (d < 0) return;
  }
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_BOX_H_
