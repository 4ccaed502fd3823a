// The core of a problem: what is left when variables that meet at most two others are eliminated
// exactly, one after the other. Such an elimination leaves a table of at most two variables, so the
// core is pairwise again. Chains, branches and trees vanish; of many networks nothing is left.
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
  // From values of `variables`: values of all variables of the folded problem, the best ones of
  // those that were eliminated. That problem must still be there.
  std::function<Assignment(const Assignment& values)> extended;
};

// Eliminates as long as the next table has at most `cells` cells. Nothing where the budget was
// spent before the end.
absl::optional<Core> Fold(const PairwiseProblem& problem, int64_t cells,
                          const Budget& budget = Budget::Unlimited());

// Whether folding would leave nothing.
bool FoldsWhole(const PairwiseProblem& problem, int64_t cells);

// The factors of the problem, those of the same variables added up to one, the lower variable first
// in its scope. Equal sums share their cells.
std::vector<Factor> OneOfEachScope(const PairwiseProblem& problem);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_FOLD_H_
