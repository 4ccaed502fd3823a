// Elimination of a problem that is too wide for plain tables. A cell of a table is kept only if it
// can be part of a solution of cost `limit` or less: its own cost, and the least that its classes
// cost everywhere else. The latter is known exactly of the problem relaxed to classes
// (MinMarginals). In a graph's problem values are choices and classes their grids.
#ifndef YUBA_SEARCH_SOLVE_PRUNED_ELIMINATION_H_
#define YUBA_SEARCH_SOLVE_PRUNED_ELIMINATION_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "search/solve/bucket_tree.h"
#include "search/solve/eliminate.h"
#include "search/solve/pruned_table.h"

namespace yuba::search {

struct PrunedSolution {
  bool finished = false;  // false: work, cells or budget ran out, and nothing is known
  bool found = false;  // whether an assignment costs `limit` or less; false proves that none does
  Solution solution;   // where found: the optimum
};

class PrunedElimination {
 public:
  // `classes`: by variable. `tree`: the min-marginals of the problem relaxed to them. All three
  // must outlive this.
  PrunedElimination(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
                    const BucketTree& tree);

  // Looks for an assignment of cost `limit` or less. Takes from *work the number of sums that it
  // makes; ends unfinished where that falls below 0, where it would hold more than `most_cells`
  // cells, or where the budget is spent. May be called again with another limit.
  PrunedSolution Run(int64_t limit, int64_t most_cells, int64_t* work,
                     const Budget& budget = Budget::Unlimited());

 private:
  TableAt FactorTable(const std::vector<int>& joint, const Factor& factor);
  std::vector<TableAt> TablesOf(const std::vector<int>& joint, const Bucket& bucket);
  int64_t CostIn(size_t bucket, const Assignment& assignment) const;

  const PairwiseProblem& problem_;
  const BucketTree& tree_;
  std::vector<MembersPtr> members_;  // by variable
  std::map<std::tuple<Cells, MembersPtr, MembersPtr, bool>, PrunedTable> factor_tables_;
  std::vector<PrunedTable> results_;          // by bucket
  std::vector<std::vector<TableAt>> tables_;  // by bucket: the tables that met there
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_PRUNED_ELIMINATION_H_
