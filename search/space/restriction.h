// Restrictions: which of its cuts an element may have. Pins and baselines are made of them.
#ifndef YUBA_SEARCH_SPACE_RESTRICTION_H_
#define YUBA_SEARCH_SPACE_RESTRICTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "search/plan/choice.h"
#include "search/plan/choice_space.h"
#include "search/space/domain.h"

namespace yuba::search {

// What is demanded of one extent: `axes` cut it, in this order, outermost first; with `others`
// further axes may, anywhere between them.
struct Demand {
  AxisList axes;
  bool others = true;
  friend bool operator==(const Demand& a, const Demand& b) {
    return a.axes == b.axes && a.others == b.others;
  }
};
using Demands = std::vector<Demand>;  // by extent

// What becomes of an axis that no demand leaves room for, though it fits: the choice is no plan's;
// the axis goes where it fits; or it is left out, so that the tensor is replicated along it.
enum class Rest : uint8_t { kRefused, kElsewhere, kLeftOut };

struct Restriction {
  std::vector<Demands> any_of;  // empty: no restriction
  Rest rest = Rest::kRefused;
  bool none() const { return any_of.empty(); }
};
using Restrictions = std::vector<Restriction>;  // by element (tensors first, then nodes); or empty

// One extent may be cut, all others stay whole.
Demands OnlyExtent(size_t extents, size_t extent);
// As far as there is room: only those of the extents that are `true`.
Demands OnlyExtents(const std::vector<bool>& extents);

// LegalChoices, as far as the restriction allows them. `placed`: the axes of `axes` and of earlier
// levels; room is kept for what is demanded of later ones.
std::vector<Choice> RestrictedChoices(const ChoiceSpace& space, const Mesh& mesh,
                                      const std::vector<int>& axes, const std::vector<int>& placed,
                                      const Choice& prefix, Nesting nesting,
                                      const Restriction& restriction);

// "" if some legal choice of all axes of the mesh meets the demands, else why none does.
std::string WhyUnmet(const ChoiceSpace& space, const Mesh& mesh, const Demands& demands);

// Whether a choice of all axes of the mesh is as demanded, extent by extent.
bool Meets(const Choice& choice, const Demands& demands);

// Whether all choices, by element, are as restricted.
bool Meets(const std::vector<Choice>& choices, const Restrictions& restrictions);

// Whether what is demanded nests in the order of the mesh.
bool NestByLevel(const Demands& demands);
bool NestByLevel(const Restrictions& restrictions);

// For people and as a key: equal for equal restrictions only.
std::string Key(const Restriction& restriction);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_RESTRICTION_H_
