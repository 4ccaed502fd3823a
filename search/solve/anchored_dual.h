// A good assignment of a problem with symmetries that is too wide to be eliminated: what the dual
// of its values prefers once one variable, the anchor, breaks the symmetry.
//
// Equal mesh axes may change names, so every assignment has images that cost the same, and messages
// between variables cannot prefer one of them: an assignment read off them mixes the names. If the
// anchor may only have one value of each orbit, which loses no solution up to names, its neighbours
// prefer the names that it has, their neighbours theirs, and so on. Plans of training steps of a
// GPT with 2 to 8 layers move 1 to 3 % less from this start than from all others.
#ifndef YUBA_SEARCH_SOLVE_ANCHORED_DUAL_H_
#define YUBA_SEARCH_SOLVE_ANCHORED_DUAL_H_

#include <vector>

#include "absl/types/optional.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// An assignment of all variables, not yet improved by local search. `order`: all variables, in an
// order that follows the problem's structure. Nothing where no variable has symmetries, or the
// budget is spent. Deterministic; takes about a second for 10^7 cells.
absl::optional<Assignment> PreferredByAnchoredDual(const PairwiseProblem& problem,
                                                   const std::vector<int>& order,
                                                   const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_ANCHORED_DUAL_H_
