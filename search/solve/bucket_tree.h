// Bucket elimination (Dechter, "Bucket elimination: a unifying framework for reasoning", 1999): an
// order of elimination as a tree of buckets, one for each variable in it.
//
// A bucket holds the factors in which its variable is the first to be eliminated. Added up, with
// the tables that come from the buckets below, and minimised over the variable, they are one table
// over the rest of the variables in them, which goes to the bucket of the next of these. For the
// factors f(x, y) and g(y, z) and the order y, x, z: the bucket of y holds both and sends
// h(x, z) = min over y of f + g to the bucket of x, which sends min over x of h to that of z.
#ifndef YUBA_SEARCH_SOLVE_BUCKET_TREE_H_
#define YUBA_SEARCH_SOLVE_BUCKET_TREE_H_

#include <cstdint>
#include <vector>

#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

struct Bucket {
  int variable = 0;
  // The variables that its tables contain besides `variable`. All are eliminated later; those that
  // stay longest come first, so the last is the variable of the parent bucket.
  std::vector<int> scope;
  int parent = -1;            // -1: the scope is empty
  std::vector<int> factors;   // of the problem: those whose first eliminated variable is this one
  std::vector<int> children;  // buckets whose parent this one is
  int like = 0;               // the first bucket of equal tables; `up` is the same
  Cells up;  // by scope, row-major: the least cost of the factors here and in all buckets below
};

struct BucketTree {
  std::vector<Bucket> buckets;  // in the order of elimination
  int64_t least = 0;            // the least cost of the buckets that have no scope
};

// The tree without tables. `order`: the variables of all factors, each once. Factors of the problem
// need no cells, only pointers that are equal where their cells would be.
BucketTree MakeBuckets(const PairwiseProblem& problem, const std::vector<int>& order);

// What the tables of a tree take: those of all buckets, or each of equal ones once. Saturates.
struct Work {
  int64_t cells = 0;  // of all `up`
  int64_t sums = 0;   // to fill them, about one a nanosecond
};
Work WorkOf(const PairwiseProblem& problem, const BucketTree& tree, bool equal_once);

// Fills `up` of all buckets, and `least`. Equal work is done once. The sizes of the tables follow
// from the order, so look at them before (GreedyOrder). False where the budget was spent before the
// end.
bool EliminateUp(const PairwiseProblem& problem, const Budget& budget, BucketTree* tree);

// Gives the variables of all buckets their best values, the one that was eliminated last first. Of
// equally cheap values the least.
void ChooseValues(const PairwiseProblem& problem, const BucketTree& tree, Assignment* assignment);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_BUCKET_TREE_H_
