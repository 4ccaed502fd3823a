// The recursion: Tofu's search, one mesh axis at a time, for those who ask for it by name and as a
// start of other searches.
#ifndef YUBA_SEARCH_ENGINES_LEVELS_H_
#define YUBA_SEARCH_ENGINES_LEVELS_H_

#include "search/plan/plan.h"
#include "search/search_options.h"
#include "search/solve/budget.h"
#include "search/space/restriction.h"

namespace yuba::search {

// The plan that the recursion finds, which has a bound only where one axis is the whole mesh.
// Levels for which there is no time take their first choices, or where that is cheaper, axes that
// follow their neighbours.
Plan SearchRecursive(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_LEVELS_H_
