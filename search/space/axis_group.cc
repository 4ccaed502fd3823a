#include "search/space/axis_group.h"

#include <algorithm>
#include <utility>

namespace yuba::search {
namespace {

// The axes of `choice` with numbers in [begin, end), counted from `begin` on.
Choice Inside(const Choice& choice, int begin, int end) {
  Choice inside;
  for (const AxisList& list : choice.axes) {
    inside.axes.emplace_back();
    for (const uint8_t axis : list) {
      if (axis >= begin && axis < end)
        inside.axes.back().push_back(static_cast<uint8_t>(axis - begin));
    }
  }
  return inside;
}

// Adds the choices of which each extent has both lists behind each other, `inner` inside; with
// `both` also outside.
void Join(const Choice& outer, const Choice& inner, bool both, size_t extent, Choice& joined,
          std::vector<Choice>& choices) {
  if (extent == outer.axes.size()) {
    choices.push_back(joined);
    return;
  }
  const AxisList &before = outer.axes[extent], &added = inner.axes[extent];
  const bool two = both && !before.empty() && !added.empty();
  for (const bool inside : {true, false}) {
    if (!inside && !two) break;
    const AxisList &first = inside ? before : added, &last = inside ? added : before;
    joined.axes.push_back(first);
    joined.axes.back().insert(joined.axes.back().end(), last.begin(), last.end());
    Join(outer, inner, both, extent + 1, joined, choices);
    joined.axes.pop_back();
  }
}

std::vector<int> Numbered(const std::vector<int>& axes, int from) {
  std::vector<int> numbers;
  for (const int axis : axes) numbers.push_back(axis - from);
  return numbers;
}

}  // namespace

Mesh MeshOfGroup(const Mesh& mesh, const AxisGroup& group) {
  const int end = std::min(group.end, static_cast<int>(mesh.axes.size()));
  Mesh of_group;
  of_group.axes.assign(mesh.axes.begin() + group.begin, mesh.axes.begin() + end);
  return of_group;
}

std::vector<Choice> ChoicesInGroup(const ChoiceSpace& space, const Mesh& mesh,
                                   const AxisGroup& group, const std::vector<int>& axes,
                                   const Choice& prefix, Nesting nesting,
                                   const Restriction* restriction) {
  const Mesh alone = MeshOfGroup(mesh, group);
  const Choice outer = Inside(prefix, 0, group.begin);
  const Choice given = Inside(prefix, group.begin, group.end);
  ChoiceSpace left = space;  // of a part that the axes before the group make
  for (size_t e = 0; e < left.extents.size(); ++e) {
    left.extents[e] /= PartCount(mesh, outer.axes[e]);
  }
  const std::vector<int> placing = Numbered(axes, group.begin);
  std::vector<Choice> choices, inside;
  if (restriction != nullptr) {
    std::vector<int> placed;
    const int last = placing.empty() ? -1 : *std::max_element(placing.begin(), placing.end());
    for (int axis = 0; axis <= last; ++axis) placed.push_back(axis);
    inside = RestrictedChoices(left, alone, placing, placed, given, Nesting::kLevel, *restriction);
  }
  if (inside.empty()) inside = LegalChoices(left, alone, placing, given, Nesting::kLevel);
  for (Choice& choice : inside) {
    for (AxisList& list : choice.axes) {
      for (uint8_t& axis : list) axis = static_cast<uint8_t>(axis + group.begin);
    }
    Choice joined;
    Join(outer, choice, nesting == Nesting::kAnywhere, 0, joined, choices);
  }
  return choices;
}

}  // namespace yuba::search
