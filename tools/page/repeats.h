// Repetitions in a sequence: what a model's blocks are in the order of its nodes. Example: in
// a b c b c b c d the pair b c stands three times from position 1 on.
#ifndef YUBA_TOOLS_PAGE_REPEATS_H_
#define YUBA_TOOLS_PAGE_REPEATS_H_

#include <cstddef>
#include <functional>
#include <vector>

namespace yuba::tools {

// [begin, begin + period) and the `count` - 1 stretches after it, which are equal to it.
struct Repeat {
  size_t begin = 0, period = 0, count = 0;
  size_t end() const { return begin + period * count; }
};

// How well a stretch of `period` elements from `begin` on is one thing: of two ways to lay the same
// repetitions, as b c b c b c or c b c b in the example, the one whose first stretch is better.
using Unity = std::function<size_t(size_t begin, size_t period)>;

// Repeats that share no element, in order; those that cover most are found first. A short stretch
// must stand three times, one of at least six elements twice.
std::vector<Repeat> FindRepeats(const std::vector<int>& sequence, const Unity& unity);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PAGE_REPEATS_H_
