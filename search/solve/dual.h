// A lower bound of a pairwise problem that no elimination can solve, and a good assignment: the
// dual of its linear relaxation by sequential tree-reweighted message passing (Kolmogorov 2006).
//
// It works on classes of values instead of values: the cost of two classes is the least of any two
// members, so the bound holds for the values too, and labels of equal mesh axes cost no time.
#ifndef YUBA_SEARCH_SOLVE_DUAL_H_
#define YUBA_SEARCH_SOLVE_DUAL_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

struct Classes {
  int count = 1;
  std::vector<int> of;  // by value
};
using ClassesPtr = std::shared_ptr<const Classes>;

// Each value is a class; variables of as many values share theirs.
std::vector<ClassesPtr> EachItsOwn(const PairwiseProblem& problem);

struct Dual {
  // No assignment is cheaper: the sum, over the variables that come second in scopes, of the least
  // of the sum of min over a of (factor(a, b) - message(class of a)), and what b costs alone; and
  // over the others, of the least of what messages and costs of one variable add up to.
  int64_t bound = 0;
  // By factor: for each class of the first variable of its scope; none for a factor of one
  // variable. Those of one variable add up to 0, less the costs of that variable alone, unless one
  // is too large.
  std::vector<std::vector<int64_t>> messages;
  Assignment assignment;  // read off the messages, variable by variable
  // By variable: a few values that good assignments have, that of `assignment` first.
  std::vector<std::vector<int>> likely;
};

// Where the factors together have more cells, most sweeps are over the likeliest values alone.
inline constexpr int64_t kManyCells = int64_t{1} << 25;

// No variable comes first in one scope and second in another. Factors of one variable cost all
// values of a class the same.
// `order`: the variables in an order that follows the problem's structure. Where the budget is
// spent, what the sweeps by then have brought; no more sweeps once the bound is `enough`. Costs of
// two variables above `most` count as that, and no message is above it or below -`most`.
Dual MaximiseDual(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
                  const std::vector<int>& order, int sweeps,
                  const Budget& budget = Budget::Unlimited(),
                  double enough = std::numeric_limits<double>::infinity(),
                  int64_t most = kForbidden, int64_t many_cells = kManyCells);

// What messages between the values of all variables prefer after so many sweeps in this order, or
// as many as the budget allows. Variables may come first in one scope and second in another.
Assignment PreferredAssignment(const PairwiseProblem& problem, const std::vector<int>& order,
                               int sweeps, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_DUAL_H_
