// Domains: every choice of a tensor or node over the axes of a mesh.
//
// Example: a tensor f32[8, 8] on the axes a=2 b=2 has 6 choices with free nesting: both axes on the
// first dimension as ab or ba, both on the second as ab or ba, and one axis on each, in two ways.
// Nested by level, ba is left out, so that 4 choices remain.
#ifndef YUBA_SEARCH_SPACE_DOMAIN_H_
#define YUBA_SEARCH_SPACE_DOMAIN_H_

#include <cstdint>
#include <vector>

#include "search/plan/choice.h"
#include "search/plan/choice_space.h"
#include "search/plan/words.h"

namespace yuba::search {

// All choices that add axes of `axes` to those of `prefix`, nested so. Unless the space is
// `optional`, no axis of `axes` that is left out fits any extent. Each choice once, in an order
// that depends on the arguments only; never empty.
std::vector<Choice> LegalChoices(const ChoiceSpace& space, const Mesh& mesh,
                                 const std::vector<int>& axes, const Choice& prefix,
                                 Nesting nesting);

// An upper bound of the number of choices that LegalChoices returns for `count` axes with free
// nesting; the largest int64_t where that overflows.
int64_t CountChoices(const ChoiceSpace& space, int count);

// `choice` without the axes that are not in `axes`.
Choice Restrict(const Choice& choice, const std::vector<int>& axes);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_DOMAIN_H_
