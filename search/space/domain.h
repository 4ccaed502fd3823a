// Domains: every way to cut a tensor, or a node, over the axes of a mesh.
#ifndef YUBA_SEARCH_SPACE_DOMAIN_H_
#define YUBA_SEARCH_SPACE_DOMAIN_H_

#include <cstdint>
#include <vector>

#include "search/plan/choice.h"
#include "search/plan/choice_space.h"

namespace yuba::search {

// kFree: the axes of one extent in any order, inside those of earlier ones. kAnywhere: also outside
// those. kLevel: in the order of the mesh.
enum class Nesting : uint8_t { kFree, kAnywhere, kLevel };

// All choices that add axes of `axes` to those of `prefix`, nested so, maximal by inclusion unless
// the space says otherwise: no axis of `axes` that is left out fits anywhere. Each once, in an
// order that depends on the arguments only.
std::vector<Choice> LegalChoices(const ChoiceSpace& space, const Mesh& mesh,
                                 const std::vector<int>& axes, const Choice& prefix,
                                 Nesting nesting);

// At most how many cuts there are of `count` axes: what LegalChoices may return, saturating.
int64_t CountChoices(const ChoiceSpace& space, int count);

// `cut` without the axes that are not in `axes`.
Choice Restrict(const Choice& choice, const std::vector<int>& axes);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_DOMAIN_H_
