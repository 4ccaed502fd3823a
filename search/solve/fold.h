// The core of a problem: what is left when all variables that meet at most two others are
// eliminated exactly, one after the other. Chains, branches and trees vanish; the core is pairwise
// again.
#ifndef YUBA_SEARCH_SOLVE_FOLD_H_
#define YUBA_SEARCH_SOLVE_FOLD_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "search/solve/eliminate.h"

namespace yuba::search {

struct Core {
  PairwiseProblem problem;     // at most one factor of each pair and of each variable
  std::vector<int> variables;  // by variable of `problem`: its number before
  std::vector<int> order;      // the variables that were eliminated
  int64_t constant = 0;        // to be added to all costs
  // Values of those variables, with the best of all others: of the problem that was folded, while
  // that lives.
  std::function<Assignment(const Assignment& values)> extended;
};

// No table of more than `cells` cells is made. Nothing where the budget was spent before the end.
absl::optional<Core> Fold(const PairwiseProblem& problem, int64_t cells,
                          const Budget& budget = Budget::Unlimited());

// Whether nothing would be left.
bool FoldsWhole(const PairwiseProblem& problem, int64_t cells);

// Factors of the same variables added up, the lower number first in the scope; equal sums are made
// once.
std::vector<Factor> OneOfEachScope(const PairwiseProblem& problem);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_FOLD_H_
