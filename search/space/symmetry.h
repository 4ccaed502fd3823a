// Symmetries of a mesh: axes of equal size may change names, and no cost changes.
#ifndef YUBA_SEARCH_SPACE_SYMMETRY_H_
#define YUBA_SEARCH_SPACE_SYMMETRY_H_

#include <string>
#include <vector>

#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice.h"

namespace yuba::search {

using AxisPermutation = std::vector<uint8_t>;  // [axis] -> its new position

// All permutations that move axes of `axes` only, each to one of equal size. The identity first;
// only the identity where there would be more than `limit`.
std::vector<AxisPermutation> AxisSymmetries(const Mesh& mesh, const std::vector<int>& axes,
                                            int limit);

Choice RenameAxes(const Choice& choice, const AxisPermutation& permutation);

// A string that is equal for equal cuts only.
std::string Key(const Choice& choice);

// images[g][i]: where symmetry g takes cuts[i]. `cuts` must be closed under the symmetries.
std::vector<std::vector<int>> Images(const std::vector<Choice>& choices,
                                     const std::vector<AxisPermutation>& symmetries);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_SYMMETRY_H_
