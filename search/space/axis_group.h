// A group of mesh axes that follow each other, as a mesh of its own, inside of the axes before it:
// what a product of two ways of partitioning, as data parallelism over tensor parallelism, gives to
// each of them.
//
// Example: of the mesh a=2 b=2 c=2 the group [1, 3) is the mesh b=2 c=2. Where a tensor f32[8, 8]
// is [8/a, 8] already, a restriction of the group to the first dimension leaves [8/abc, 8], and
// [8/bca, 8] where axes may nest anywhere: in both the group cuts each half in four.
#ifndef YUBA_SEARCH_SPACE_AXIS_GROUP_H_
#define YUBA_SEARCH_SPACE_AXIS_GROUP_H_

#include <cstdint>
#include <vector>

#include "search/plan/choice_space.h"
#include "search/space/domain.h"
#include "search/space/restriction.h"

namespace yuba::search {

// The axes of numbers [begin, end) of a mesh.
struct AxisGroup {
  int begin = 0;
  int end = INT32_MAX;  // or behind the last
  bool IsWhole(const Mesh& mesh) const {
    return begin == 0 && end >= static_cast<int>(mesh.axes.size());
  }
};

Mesh MeshOfGroup(const Mesh& mesh, const AxisGroup& group);

// The choices that add axes of `axes`, which are in the group, to those of `prefix`, which has axes
// before them: LegalChoices, or where `restriction` is not null RestrictedChoices, of the group
// alone. Demands number the axes of the group from 0 on. The group's axes cut inside of those
// before the group; under Nesting::kAnywhere, of each extent, outside of them too.
std::vector<Choice> ChoicesInGroup(const ChoiceSpace& space, const Mesh& mesh,
                                   const AxisGroup& group, const std::vector<int>& axes,
                                   const Choice& prefix, Nesting nesting,
                                   const Restriction* restriction);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_AXIS_GROUP_H_
