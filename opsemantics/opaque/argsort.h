// The opaque function `argsort`: at[0] is where the least element of a row stands, at[1] the next
// one, and so on; with the attribute `descending` the greatest comes first. Elements that are equal
// keep their order either way, so the answer is unique. -0 equals 0, a NaN is above all numbers and
// equals other NaNs. In hash arithmetic floats are in the order of hash_order.h.
//
// Example: of {3, 1, 3, 2} ascending it is {1, 3, 0, 2}, descending {0, 2, 3, 1}.
#ifndef YUBA_OPSEMANTICS_OPAQUE_ARGSORT_H_
#define YUBA_OPSEMANTICS_OPAQUE_ARGSORT_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opsemantics/opaque/opaque_function.h"

namespace yuba {

// As of OpaqueFunction: one row of any type and a row of i64 of the same length.
std::string WhyNotArgsort(const OpaqueSignature& signature);
void Argsort(const OpaqueCall& call);

// A number for an element such that elements are ordered as their numbers are: what comes first,
// and then where it stands.
using SortEntry = std::pair<uint64_t, int64_t>;

// Sorts the entries by both of their numbers, in n log n comparisons by `less`.
template <typename Less>
void SortEntries(std::vector<SortEntry>& entries, const Less& less) {
  std::sort(entries.begin(), entries.end(), less);
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_OPAQUE_ARGSORT_H_
