// A bound of a problem that is too wide to be eliminated, often its optimum: it falls into blocks
// that are not (split.h), whose copies of one variable pay each other prices until they agree as
// far as they can (dual decomposition, with min-marginals as the direction). A value that costs as
// much as the best known solution in the split problem can be left out; with the values that are
// left, blocks can be wider: so it goes on, round after round.
//
// Symmetries would make it vain, since copies agree on a value up to symmetry alone: one variable,
// the anchor, keeps the least values of its orbits only.
#ifndef YUBA_SEARCH_BLOCKS_H_
#define YUBA_SEARCH_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "search/block_round.h"
#include "search/budget.h"
#include "search/eliminate.h"

namespace yuba {

struct BlockOptions {
  int64_t sums = 10'000;            // of one step of elimination, in the first round
  int64_t growth = 3;               // from round to round
  int64_t most_sums = 1'000'000;    // of one step; no bound where a factor has more
  int rounds = 6;                   // at most
  int steps = 60;                   // of the prices in a round, at most
  int sweeps = 20;                  // of the pairwise dual, whose messages are the first prices
  int first_steps = 30;             // no first round where work is not enough for so many
  int few_steps = 8;                // no other round where what is left is not
  int64_t work = int64_t{1} << 28;  // sums; some 300 million a second
};

struct Blocks {
  Solution solution;  // no dearer than the start; the optimum where it costs `bound`
  int64_t bound = 0;  // no assignment costs less
  int anchor = -1;    // the variable, if there are symmetries
  std::vector<BlockRound> rounds;
};

// `listed`: by variable its values in the order in which the proof lists them; that of an orbit
// that comes first is its least. `start` is a solution. Where the budget is spent, the best by
// then.
Blocks BoundByBlocks(const PairwiseProblem& problem, const std::vector<std::vector<int>>& listed,
                     const Solution& start, const BlockOptions& options,
                     const Budget& budget = Budget::Unlimited());

}  // namespace yuba

#endif  // YUBA_SEARCH_BLOCKS_H_
