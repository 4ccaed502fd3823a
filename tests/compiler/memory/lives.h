// Lives of buffers for tests of their placing, and the check of what they must not share.
#ifndef YUBA_TESTS_COMPILER_MEMORY_LIVES_H_
#define YUBA_TESTS_COMPILER_MEMORY_LIVES_H_

#include <cstdint>
#include <random>
#include <vector>

#include "compiler/memory/buffer_life.h"

namespace yuba::compiler {

// Whether no two that are live at once share a byte, and all lie within `arena` bytes, aligned.
bool AreDisjoint(const std::vector<BufferLife>& lives, const std::vector<int64_t>& offsets,
                 int64_t arena);

// Lives that fill an arena of `slots` slots without a gap, over `times` instructions: the arena is
// split `splits` times, at a random place each.
std::vector<BufferLife> Filling(int64_t slots, int64_t times, int splits, std::mt19937_64* random);

// A chain of `layers` layers, each with a parameter, an activation that two later kernels read, and
// two buffers of transfers: four times as many buffers.
std::vector<BufferLife> Chain(int layers, std::mt19937_64* random);

// The largest sum of slots that are live at one time, bytes: no arena is smaller.
int64_t LiveSlots(const std::vector<BufferLife>& lives);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_MEMORY_LIVES_H_
