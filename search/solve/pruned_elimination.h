// Elimination of a problem too wide for plain tables: only what can be part of a solution of at
// most `limit` is kept. What costs an assignment of classes elsewhere is known exactly
// (min_marginals.h), and bounds what an assignment of values costs there.
#ifndef YUBA_SEARCH_SOLVE_PRUNED_ELIMINATION_H_
#define YUBA_SEARCH_SOLVE_PRUNED_ELIMINATION_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "search/solve/eliminate.h"
#include "search/solve/min_marginals.h"
#include "search/solve/pruned_table.h"

namespace yuba::search {

struct PrunedSolution {
  bool finished = false;  // false: it took more than work and budget allowed; nothing is known
  bool found = false;     // false: no assignment costs `limit` or less
  Solution solution;      // where found: the optimum
};

class PrunedElimination {
 public:
  // `tree`: of the problem relaxed to `classes`. All three must outlive this.
  PrunedElimination(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
                    const BucketTree& tree);

  // Takes from `work` the number of sums that it makes; ends where nothing is left of it, or where
  // it would hold more than `most_cells` cells, or where the budget is spent.
  PrunedSolution Run(int64_t limit, int64_t most_cells, int64_t* work,
                     const Budget& budget = Budget::Unlimited());

 private:
  TableAt FactorTable(const std::vector<int>& joint, const Factor& factor);
  std::vector<TableAt> TablesOf(const std::vector<int>& joint, const Bucket& bucket);
  int64_t CostIn(size_t bucket, const Assignment& assignment) const;
  Assignment Choose() const;

  const PairwiseProblem& problem_;
  const BucketTree& tree_;
  std::vector<MembersPtr> members_;  // by variable
  std::map<std::tuple<Cells, MembersPtr, MembersPtr, bool>, PrunedTable> factor_tables_;
  std::vector<PrunedTable> results_;          // by bucket
  std::vector<std::vector<TableAt>> tables_;  // by bucket: those that met there
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_PRUNED_ELIMINATION_H_
