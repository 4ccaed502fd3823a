// Tables that are kept only where they can be part of a cheap solution: for each assignment of
// classes a block of cells for all members, or nothing where all of them are too dear. With classes
// of 6 members each, a table of two variables has blocks of 36 cells. A member's *label* is its
// place in its class.
#ifndef YUBA_SEARCH_SOLVE_PRUNED_TABLE_H_
#define YUBA_SEARCH_SOLVE_PRUNED_TABLE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "search/solve/budget.h"
#include "search/solve/pairwise.h"
#include "search/solve/relax.h"

namespace yuba::search {

// Stands for costs above any limit: so large that nothing is dearer, so small that a few of them
// can be added.
constexpr int64_t kTooDear = std::numeric_limits<int64_t>::max() / 64;

// The values of a variable by class. Within a class those come first that are the least of their
// orbits.
struct Members {
  Members(const Domain& domain, const Classes& classes);

  std::vector<std::vector<int>> values;  // by class
  std::vector<int> orbits;               // by class: how many orbits its values form
  std::vector<int> of, label;            // by value: its class, and its place in the class
  // [class][symmetry][label]: the label of the value that the symmetry maps to, in the same class.
  std::vector<std::vector<std::vector<int>>> images;
};
using MembersPtr = std::shared_ptr<const Members>;

struct PrunedTable {
  // By classes of the scope, row-major: where the block starts in `cells`, -1: there is none; and
  // the least cell of the block.
  std::vector<int64_t> place;
  std::vector<int64_t> least;
  std::vector<int64_t> cells;  // blocks, row-major by labels
};

// A table over some of the places of a join.
struct TableAt {
  const PrunedTable* table;
  std::vector<int> places;
};

// The table with all cells of a factor. `scope`: the factor's, perhaps in another order.
PrunedTable Labelled(const Factor& factor, const std::vector<int>& scope,
                     const std::vector<MembersPtr>& members);

struct JoinInput {
  std::vector<MembersPtr> joint;  // the scope of the result, then the variable to be eliminated
  std::vector<TableAt> tables;    // places ascend, and each table has the last place
  // By classes of the scope: no cell of the result is less than `up`, and everything else costs at
  // least `down`.
  const std::vector<int64_t>* up;
  const std::vector<int64_t>* down;
  int64_t limit = 0;
  int64_t most_cells = 0;  // of the result
  const Budget* budget = &Budget::Unlimited();
};

// The least sum of the tables over the values of the last variable; cells that together with `down`
// are above `limit` are left out. Takes from *work the number of sums made. The result is of no use
// where *work is then below 0, which also says that the budget is spent or the result was too
// large.
PrunedTable Join(const JoinInput& input, int64_t* work);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_PRUNED_TABLE_H_
