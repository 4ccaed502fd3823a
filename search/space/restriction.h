// Restrictions: which choices an element may have. Pins (pin.h) and baselines are made of them.
//
// Example: the pin [a, -] of a tensor f32[8, 8] is one Demands of two extents: {axes a, others
// true} and {no axes, others false}. On the mesh a=2 b=2 it leaves [8/ab, 8] and [8/ba, 8]: axis b
// must go somewhere, and the second extent stays whole.
#ifndef YUBA_SEARCH_SPACE_RESTRICTION_H_
#define YUBA_SEARCH_SPACE_RESTRICTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "search/plan/choice.h"
#include "search/plan/choice_space.h"
#include "search/space/domain.h"

namespace yuba::search {

// What is demanded of one extent.
struct Demand {
  AxisList axes;       // they cut it, in this order, outermost first
  bool others = true;  // whether further axes may cut it, anywhere between those
  friend bool operator==(const Demand& a, const Demand& b) {
    return a.axes == b.axes && a.others == b.others;
  }
};
using Demands = std::vector<Demand>;  // [extent]

// What becomes of an axis for which the demands leave no room, though it fits some extent.
// kRefused: there is no such choice. kElsewhere: it cuts any extent where it fits. kLeftOut: it is
// left out, so that the tensor is replicated along it.
enum class Rest : uint8_t { kRefused, kElsewhere, kLeftOut };

struct Restriction {
  std::vector<Demands> any_of;  // a choice meets at least one; empty: no restriction
  Rest rest = Rest::kRefused;
  bool none() const { return any_of.empty(); }
};
using Restrictions = std::vector<Restriction>;  // [element] (tensors first, then nodes); or empty

// Axes may cut this extent; the others, of `extents` in all, stay whole.
Demands OnlyExtent(size_t extents, size_t extent);
// Axes may cut the extents that are `true`; the others stay whole.
Demands OnlyExtents(const std::vector<bool>& extents);

// Those of LegalChoices that the restriction allows; empty where it allows none. `placed`: the axes
// of `axes` and of earlier levels. Of later levels only the demands count: room is kept for them.
std::vector<Choice> RestrictedChoices(const ChoiceSpace& space, const Mesh& mesh,
                                      const std::vector<int>& axes, const std::vector<int>& placed,
                                      const Choice& prefix, Nesting nesting,
                                      const Restriction& restriction);

// A legal choice of all axes of the mesh that meets a restriction of pins (Rest::kRefused). It has
// the axes of `like` where `like` has them, if there is room for all of them. Some legal choice
// must meet the restriction (WhyUnmet). Example: like [8/a, 8/b] under the pin [b, -] is [8/ba, 8].
Choice ConformedChoice(const ChoiceSpace& space, const Mesh& mesh, const Choice& like,
                       const Restriction& restriction);

// False only where no choice with these parts ([extent]: their number) meets a restriction of pins.
bool MayMeet(const std::vector<int>& parts, const Restriction& restriction, const Mesh& mesh);

// "" if some legal choice of all axes of the mesh meets the demands, else why none does, in words
// for the user.
std::string WhyUnmet(const ChoiceSpace& space, const Mesh& mesh, const Demands& demands);

// Whether a choice of all axes of the mesh is as demanded, extent by extent.
bool Meets(const Choice& choice, const Demands& demands);

// Whether each choice, by element, meets its restriction.
bool Meets(const std::vector<Choice>& choices, const Restrictions& restrictions);

// Whether all demanded axes nest in the order of the mesh.
bool NestByLevel(const Demands& demands);
bool NestByLevel(const Restrictions& restrictions);

// A text that is equal for equal restrictions only.
std::string Key(const Restriction& restriction);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_RESTRICTION_H_
