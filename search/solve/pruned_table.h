// Tables of assignments that are kept only where they can be part of a cheap solution: by classes
// of values, a block of all members where something is cheap enough, nothing elsewhere.
#ifndef YUBA_SEARCH_SOLVE_PRUNED_TABLE_H_
#define YUBA_SEARCH_SOLVE_PRUNED_TABLE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "search/solve/budget.h"
#include "search/solve/dual.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// No cost: so large that nothing is dearer, so small that a few of them can be added.
constexpr int64_t kTooDear = std::numeric_limits<int64_t>::max() / 64;

// The values of a variable by class. Within a class the least values of orbits come first.
struct Members {
  Members(const Domain& domain, const Classes& classes);

  std::vector<std::vector<int>> values;  // by class
  std::vector<int> orbits;               // by class: the number of orbits
  std::vector<int> of, label;            // by value: its class, its place in the class
  // [class][symmetry][label]: the label that a symmetry leads to, in the same class.
  std::vector<std::vector<std::vector<int>>> images;
};
using MembersPtr = std::shared_ptr<const Members>;

struct PrunedTable {
  std::vector<int64_t> place;  // by classes, row-major: where its block starts in cells, or -1
  std::vector<int64_t> least;  // by classes: of the block
  std::vector<int64_t> cells;  // blocks, row-major by labels
};

// A table over some of the places of a join.
struct TableAt {
  const PrunedTable* table;
  std::vector<int> places;
};

// All cells of a factor; `scope` is its scope, perhaps in another order.
PrunedTable Labelled(const Factor& factor, const std::vector<int>& scope,
                     const std::vector<MembersPtr>& members);

struct JoinInput {
  std::vector<MembersPtr> joint;   // the scope of the result, then the variable that goes
  std::vector<TableAt> tables;     // all over places in ascending order, the last place among them
  const std::vector<int64_t>* up;  // by classes of the scope: no sum is less
  const std::vector<int64_t>* down;  // by classes of the scope: what is to be added elsewhere
  int64_t limit = 0;
  int64_t most_cells = 0;  // of the result
  const Budget* budget = &Budget::Unlimited();
};

// The least sum of the tables over the values of the variable, where with `down` it is at most
// `limit`. Takes from `work` the number of sums made; the result is of no use once that is below 0,
// as it is where the budget is spent or the result would be too large.
PrunedTable Join(const JoinInput& input, int64_t* work);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_PRUNED_TABLE_H_
