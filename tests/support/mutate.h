// Mutations of text and bytes, from a seed, for the fuzz tests of everything that reads files. A
// call makes a few changes; it may happen to change nothing.
#ifndef YUBA_TESTS_SUPPORT_MUTATE_H_
#define YUBA_TESTS_SUPPORT_MUTATE_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace yuba {

using Random = std::mt19937_64;

// A number in [0, limit).
inline size_t Below(Random& random, size_t limit) { return limit == 0 ? 0 : random() % limit; }

// Some bytes changed, removed, doubled or cut off.
std::string MutateBytes(std::string bytes, Random& random);

// Some words (runs of letters and digits, or single signs) swapped, removed, doubled, or replaced
// by one of `words` or by an odd number.
std::string MutateWords(const std::string& text, const std::vector<std::string>& words,
                        Random& random);

// Numbers that break careless code: 0, negatives, powers of two and their neighbours, overflows.
int64_t OddNumber(Random& random);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_MUTATE_H_
