// Restrictions: which choices an element may have. Pins (pin.h) and baselines are made of them.
//
// A restriction is a list of demands (search/plan/demand.h), of which a choice meets at least one.
#ifndef YUBA_SEARCH_SPACE_RESTRICTION_H_
#define YUBA_SEARCH_SPACE_RESTRICTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "search/plan/choice.h"
#include "search/plan/choice_space.h"
#include "search/plan/demand.h"
#include "search/space/domain.h"

namespace yuba::search {

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

// False only where no choice of this grid meets a restriction of pins.
bool MayMeet(const Mesh& mesh, const Grid& grid, const Restriction& restriction);

// "" if some legal choice of all axes of the mesh meets the demands, else why none does, in words
// for the user.
std::string WhyUnmet(const ChoiceSpace& space, const Mesh& mesh, const Demands& demands);

// Whether each choice, by element, meets its restriction.
bool Meets(const std::vector<Choice>& choices, const Restrictions& restrictions);

// The restrictions of pins as a plan's space states them.
PinnedElements PinnedBy(const Restrictions& restrictions);

// Whether all demanded axes nest in the order of the mesh.
bool NestByLevel(const Demands& demands);
bool NestByLevel(const Restrictions& restrictions);

// A text that is equal for equal restrictions only.
std::string Key(const Restriction& restriction);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_RESTRICTION_H_
