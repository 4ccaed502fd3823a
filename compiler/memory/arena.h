// Offsets of buffers in one arena: those that live together do not overlap.
#ifndef YUBA_COMPILER_MEMORY_ARENA_H_
#define YUBA_COMPILER_MEMORY_ARENA_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"

namespace yuba::compiler {

// From instruction `first` to `last`, both included; size in bytes.
struct BufferLife {
  int64_t first = 0, last = 0;
  int64_t size = 0;
};

struct ArenaLayout {
  std::vector<int64_t> offsets;  // by buffer, multiples of kSlotBytes
  int64_t arena = 0;             // bytes, a multiple of kSlotBytes
};

// Deterministic. The arena is no smaller than what lives at once, and often that. With a `limit` it
// need not be smaller than that, nor as small as can be where it is larger.
ArenaLayout PlaceBuffers(const std::vector<BufferLife>& lives, int64_t limit = 0);

// Offsets within an arena of `capacity` bytes; nothing where none are found. Searches by rising
// offsets, as MiniMalloc does (Moffitt 2023): what is placed next lies on something or at the
// bottom, and nothing that is left fits below it.
absl::optional<std::vector<int64_t>> FitWithin(const std::vector<BufferLife>& lives,
                                               int64_t capacity);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MEMORY_ARENA_H_
