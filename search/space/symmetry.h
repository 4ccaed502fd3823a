// Symmetries of a mesh: axes of one class may exchange their names, and no cost changes.
//
// Example: on the axes a=2 b=2 c=3 of one kind there are two symmetries, the identity and the
// exchange of a and b, which takes [8/a, 12/bc] to [8/b, 12/ac]. Tables of costs are computed for
// one choice of each orbit and copied to the others.
#ifndef YUBA_SEARCH_SPACE_SYMMETRY_H_
#define YUBA_SEARCH_SPACE_SYMMETRY_H_

#include <string>
#include <vector>

#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice.h"

namespace yuba::search {

using AxisPermutation = std::vector<uint8_t>;  // [axis]: the axis whose name it gets

// All permutations that move only axes of `axes`, each to one of its class. The identity comes
// first; it is the only one where there would be more than `limit`.
std::vector<AxisPermutation> AxisSymmetries(const Mesh& mesh, const std::vector<int>& axes,
                                            int limit);

Choice RenameAxes(const Choice& choice, const AxisPermutation& permutation);

// A string that is equal for equal choices only; not for people.
std::string Key(const Choice& choice);

// images[g][i]: the position in `choices` of what symmetry g makes of choices[i]. `choices` must be
// closed under the symmetries.
std::vector<std::vector<int>> Images(const std::vector<Choice>& choices,
                                     const std::vector<AxisPermutation>& symmetries);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_SYMMETRY_H_
