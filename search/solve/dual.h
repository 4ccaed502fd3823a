// A lower bound of a pairwise problem that no elimination can solve, and a good assignment: the
// dual of its linear relaxation by sequential tree-reweighted message passing (TRW-S; Kolmogorov,
// "Convergent tree-reweighted message passing for energy minimization", 2006).
//
// It works on classes of values: two classes cost the least of any two members, so the bound holds
// for the values too. search/THEORY.md has the formula of the bound; any messages give a true one.
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
  std::vector<int> of;  // by value: its class
};
using ClassesPtr = std::shared_ptr<const Classes>;

// By variable: classes of one value each. Variables with equally many values share theirs.
std::vector<ClassesPtr> EachItsOwn(const PairwiseProblem& problem);

struct Dual {
  // No assignment is cheaper. The sum, over the variables that come second in scopes, of the least
  // over their values b of [what b costs alone + the sum over its factors of min over a of
  // (factor(a, b) - message(class of a))]; and, over the other variables, of the least over their
  // values of [what the value costs alone + the sum of its messages].
  int64_t bound = 0;
  // [factor][class of the first variable of its scope]; empty for a factor of one variable. The
  // messages and the own costs of a first variable add up to 0 for each class, unless a message had
  // to be cut off at `most`.
  std::vector<std::vector<int64_t>> messages;
  Assignment assignment;  // what the messages prefer, chosen variable by variable
  // By variable: a few values that good assignments have, that of `assignment` first.
  std::vector<std::vector<int>> likely;
};

// Where the factors together have more cells, most sweeps go over the likeliest values alone.
inline constexpr int64_t kManyCells = int64_t{1} << 25;

// Maximises the bound by at most `sweeps` sweeps. `problem`: no variable comes first in one scope
// and second in another (as tensors and nodes do), and a factor of one variable costs all values of
// a class the same. `order`: the variables in an order that follows the problem's structure. Ends
// earlier where four sweeps in a row brought nothing, the bound is `enough`, or the budget is
// spent. Costs of two variables above `most` count as `most`, and messages stay between -`most` and
// `most`. `many_cells`: see kManyCells. Deterministic where the budget has no end.
Dual MaximiseDual(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
                  const std::vector<int>& order, int sweeps,
                  const Budget& budget = Budget::Unlimited(),
                  double enough = std::numeric_limits<double>::infinity(),
                  int64_t most = kForbidden, int64_t many_cells = kManyCells);

// The assignment that messages between single values prefer after `sweeps` sweeps in this order, or
// as many as the budget allows. Variables may come first in one scope and second in another.
Assignment PreferredAssignment(const PairwiseProblem& problem, const std::vector<int>& order,
                               int sweeps, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_DUAL_H_
