// Offsets of buffers within a given capacity, by a search that either finds them, proves that there
// are none, or ends after a number of steps. The algorithm is that of MiniMalloc (Moffitt,
// "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS
// 2023), and so are its words:
//
// - Section: a time at which a set of buffers is live that no other time's set contains.
//   Two buffers are live at once exactly if they share a section, so only sections matter. A buffer
//   is a rectangle of a range of sections and of bytes.
// - Offset: of a buffer that is not placed yet, the lowest one at which it lies above all that are
//   placed and share a section with it.
// - Order of placement: buffers are placed by rising offsets, and at equal offsets in the order of
//   a list, the preorder. Where there is a layout, pushing its buffers down as far as they go gives
//   one in which each lies at the bottom or on another; its buffers by rising offsets are an order
//   of placement. So no other orders need be tried.
// - Dominance: a buffer is not placed where another one that shares a section with it would fit
//   below it. That other one comes first.
// - Inference: in no section may the end of what is placed there, plus the sizes of what is
//   still to come there, exceed the capacity.
//
// The search goes down from nothing placed to all placed, one buffer a level, the lowest first, and
// turns back to the last level that has another choice. Going down n buffers without turning back
// costs n^2 steps and one for each section of each buffer. A step is a look at one buffer or
// section. Memory is linear in the buffers and in the offsets that changed on the way down.
//
// Example (slots of 64 bytes, capacity 192): lives {[0, 2), 64}, {[1, 3), 128}, {[2, 4), 64} have
// the sections 1 and 2. The first lies at 0, so the second at 64, and the third at 0 below it.
#ifndef YUBA_COMPILER_MEMORY_FIT_WITHIN_H_
#define YUBA_COMPILER_MEMORY_FIT_WITHIN_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/memory/buffer_life.h"

namespace yuba::compiler {

struct FitOptions {
  // Steps for each preorder beyond those of going down once. Of 6,100 random problems half as many
  // steps would lose 8 that are solved, twice as many would solve 16 more.
  int64_t steps_beyond_descent = int64_t{1} << 18;
  // For all preorders together: about a second, which is what first fit in all its orders takes for
  // 7,000 buffers. A preorder that could not go down once in what is left is not begun.
  int64_t most_steps = int64_t{1} << 26;
};

struct Fit {
  // [buffer] bytes, multiples of kSlotBytes, 0 for buffers of no size. Nothing where there are
  // none, or none were found.
  absl::optional<std::vector<int64_t>> offsets;
  bool impossible = false;  // there are no offsets within the capacity
  int64_t steps = 0;        // taken
};

// capacity: bytes, a multiple of kSlotBytes. Deterministic; does not block.
Fit FitWithin(const std::vector<BufferLife>& lives, int64_t capacity,
              const FitOptions& options = {});

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MEMORY_FIT_WITHIN_H_
