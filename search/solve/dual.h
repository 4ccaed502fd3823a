// A lower bound of a pairwise problem that no elimination can solve, and a good assignment: the
// dual of its linear relaxation, raised by message passing (TRW-S, message_passing.h).
// search/THEORY.md has the formula of the bound; any messages give a true one.
#ifndef YUBA_SEARCH_SOLVE_DUAL_H_
#define YUBA_SEARCH_SOLVE_DUAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// What message passing knows between two sweeps: by side of the scope, factor, and value of the
// variable on that side. Empty for factors of one variable.
using MessageState = std::array<std::vector<std::vector<double>>, 2>;

struct Dual {
  // No assignment is cheaper. The sum, over the variables that come second in scopes, of the least
  // over their values b of [what b costs alone + the sum over its factors of min over a of
  // (factor(a, b) - message(a))]; and, over the other variables, of the least over their values of
  // [what the value costs alone + the sum of its messages]. Of a variable
  // that comes second in some scopes and first in others both sums are within one least.
  int64_t bound = 0;
  // [factor][value of the first variable of its scope]; empty for a factor of one variable. The
  // messages and the own costs of a variable that comes first in all scopes add up to 0 for each
  // value, unless a message had
  // to be cut off at `most`.
  std::vector<std::vector<int64_t>> messages;
  Assignment assignment;  // what the messages prefer, chosen variable by variable
  // By variable: a few values that good assignments have, that of `assignment` first.
  std::vector<std::vector<int>> likely;
  MessageState state;  // after the last sweep, where it is wanted: a start for a problem like this
};

struct DualOptions {
  int sweeps = 0;                                           // at most
  double enough = std::numeric_limits<double>::infinity();  // ends where the bound is that
  // Costs of two variables above that count as that, of a sum each of the two, and messages stay
  // between -most and most, so that whoever adds them up again does not overflow.
  int64_t most = kForbidden;
  // Values of each variable in Dual::likely, at most; 0: neither these nor an assignment are
  // wanted.
  size_t likely = 6;
  // Messages to begin with, which may be any; null: all are 0.
  const MessageState* start = nullptr;
  bool keep_state = false;  // whether Dual::state is wanted

  // Where the factors together have more cells, sweeps are fewer. 2^25 cells as floats are 128 MB:
  // a sweep reads them all, in about 0.1 s. On 10^8 cells and more the sweeps after the 24th raised
  // bounds by less than 0.1 % and took as long as these.
  int64_t many_cells = int64_t{1} << 25;
  int sweeps_of_many = 24;
};

// Maximises the bound. `order`: the variables in an order that follows the problem's structure.
// Ends earlier where four sweeps in a row brought nothing, the bound is enough, or the budget is
// spent. Deterministic where the budget has no end.
Dual MaximiseDual(const PairwiseProblem& problem, const std::vector<int>& order,
                  const DualOptions& options, const Budget& budget = Budget::Unlimited());

// The assignment that messages prefer after `sweeps` sweeps in this order, or as many as the budget
// allows. Variables may come first in one scope and second in another.
Assignment PreferredAssignment(const PairwiseProblem& problem, const std::vector<int>& order,
                               int sweeps, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_DUAL_H_
