// Walking one box through several buffers at once: the loops of every copy and every reduction.
// Buffers are dense over boxes of their own, so one element has another offset in each. Offsets and
// strides are in elements.
//
// Example: rows [4, 5) of a tensor f32[8, 16] move from a buffer over [4, 8) x [0, 16) to one over
// [0, 5) x [0, 16). WalkOf gives one loop of 16 elements, from offset 0 to offset 64, strides 1.
#ifndef YUBA_RUNTIME_WALK_H_
#define YUBA_RUNTIME_WALK_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "opsemantics/base/box.h"
#include "opsemantics/base/dim_order.h"

namespace yuba::runtime {

// Strides of a dense buffer over `box`, in elements: row-major, or in memory in the order `order`
// of the box's dimensions.
std::vector<int64_t> DenseStrides(const Box& box, const DimOrder& order = {});

// Where one buffer has the elements of the walk.
struct WalkedBuffer {
  int64_t offset = 0;            // of the walk's first element, from the buffer's first
  std::vector<int64_t> strides;  // [loop]
};

// Loops, outermost first. Neighbouring dimensions that are contiguous in every buffer are one loop,
// dimensions of extent 1 none; there is always at least one loop. An extent of 0 means no elements.
struct BoxWalk {
  std::vector<int64_t> extents;       // [loop]
  std::vector<WalkedBuffer> buffers;  // [buffer] in the order given to WalkOf

  int64_t elements() const;
};

// The walk of `box` through buffers that are dense over `boxes`. Each of these must contain `box`.
// orders: in which order each lies in memory, where one of them is not row-major; else none.
BoxWalk WalkOf(const Box& box, absl::Span<const Box> boxes, absl::Span<const DimOrder> orders = {});

// Calls visit(offsets, length) for each run of the innermost loop, of `length` elements: offsets[b]
// is where buffer b has the run's first element. Within it buffer b steps by
// buffers[b].strides.back().
template <typename Visit>
void ForEachRun(const BoxWalk& walk, const Visit& visit) {
  if (walk.elements() == 0) return;
  std::vector<int64_t> offsets;
  for (const WalkedBuffer& buffer : walk.buffers) offsets.push_back(buffer.offset);
  const int outer = static_cast<int>(walk.extents.size()) - 1;
  std::vector<int64_t> counters(outer);
  while (true) {
    visit(static_cast<const std::vector<int64_t>&>(offsets), walk.extents.back());
    int d = outer - 1;
    for (; d >= 0; --d) {
      const bool wraps = ++counters[d] == walk.extents[d];
      const int64_t steps = wraps ? 1 - walk.extents[d] : 1;
      for (size_t b = 0; b < offsets.size(); ++b) offsets[b] += steps * walk.buffers[b].strides[d];
      if (!wraps) break;
      counters[d] = 0;
    }
    if (d < 0) return;
  }
}

// Copies a walk of two buffers, from the first to the second.
void CopyWalk(const BoxWalk& walk, const char* from, char* to, int64_t element_bytes);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_WALK_H_
