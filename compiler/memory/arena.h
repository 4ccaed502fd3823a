// Offsets of buffers in one arena, so that buffers that live at one time share no byte: dynamic
// storage allocation, which is NP-hard. It is solved by first fit in several orders, then by a
// search with a bounded number of steps (fit_within.h). Nothing here knows programs or devices; see
// memory.h.
//
// Example (slots of 64 bytes): lives {[0, 2), 64 bytes}, {[1, 3), 64}, {[2, 4), 64} get the offsets
// 0, 64, 0 in an arena of 128 bytes.
#ifndef YUBA_COMPILER_MEMORY_ARENA_H_
#define YUBA_COMPILER_MEMORY_ARENA_H_

#include <cstdint>
#include <vector>

#include "compiler/memory/buffer_life.h"

namespace yuba::compiler {

struct ArenaLayout {
  std::vector<int64_t> offsets;  // [buffer]: bytes, multiples of kSlotBytes
  int64_t arena = 0;             // bytes, a multiple of kSlotBytes
};

// Offsets for all buffers; there always are some. The arena is at least the largest sum of slots
// that live at one time (the least arena), and in most programs exactly that. With a `limit`
// (bytes; 0: none) the work ends at the first layout within it, and where the least arena already
// exceeds the limit nothing more than first fit is tried. Deterministic.
ArenaLayout PlaceBuffers(const std::vector<BufferLife>& lives, int64_t limit = 0);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MEMORY_ARENA_H_
