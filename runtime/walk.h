// Walking one box through several buffers at once: the loops of every copy and every reduction.
#ifndef YUBA_RUNTIME_WALK_H_
#define YUBA_RUNTIME_WALK_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "opsemantics/base/box.h"

namespace yuba::runtime {

// Strides of a dense row-major buffer over `box`, in elements.
std::vector<int64_t> DenseStrides(const Box& box);

// Where one buffer has the elements of the walk, in elements from the buffer's first.
struct WalkedBuffer {
  int64_t offset = 0;
  std::vector<int64_t> strides;  // for each loop of the walk
};

// Loops, outermost first; neighbours that every buffer has contiguous are one loop, and there is
// always at least one. No elements where an extent is 0.
struct BoxWalk {
  std::vector<int64_t> extents;
  std::vector<WalkedBuffer> buffers;

  int64_t elements() const;
};

// The elements of `box` in buffers that are dense over `boxes`; each of them contains `box`.
BoxWalk WalkOf(const Box& box, absl::Span<const Box> boxes);

// Calls visit(offsets, length) for each run of the innermost loop: where each buffer has its first
// element. Within the run buffer b steps by buffers[b].strides.back().
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
