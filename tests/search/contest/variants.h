// Problems made from others, to see whether a search is good at one problem or at its kind.
#ifndef YUBA_TESTS_SEARCH_CONTEST_VARIANTS_H_
#define YUBA_TESTS_SEARCH_CONTEST_VARIANTS_H_

#include <cstdint>

#include "search/solve/pairwise.h"

namespace yuba::search {

// The limit is lower by `share` (0 to 1) of what it is above the least peak that any choice has.
PairwiseProblem Tighter(PairwiseProblem problem, double share);

// The same problem with its variables and factors in another order; so the optimum is the same.
PairwiseProblem Permuted(const PairwiseProblem& problem, uint64_t seed);

// Each finite cost is multiplied by a number of its own between 1 - share and 1 + share.
PairwiseProblem Perturbed(PairwiseProblem problem, double share, uint64_t seed);

// Nothing is forbidden: such cells cost twice the largest finite cost of all factors.
PairwiseProblem Allowed(PairwiseProblem problem);

// A problem of the contest's kind: `layers` times the same few nodes in a chain, each layer tied to
// the next one and to the one five before it, with choices that differ in cost and memory, a third
// of all pairs forbidden, and a limit a tenth above what the most frugal choices need.
PairwiseProblem Layered(int layers, uint64_t seed);

}  // namespace yuba::search

#endif  // YUBA_TESTS_SEARCH_CONTEST_VARIANTS_H_
