// A problem with fewer values of its variables.
#ifndef YUBA_SEARCH_SOLVE_SHRINK_H_
#define YUBA_SEARCH_SOLVE_SHRINK_H_

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "search/solve/pairwise.h"

namespace yuba::search {

using Values = std::vector<int>;  // of a variable, each once

// Makes smaller problems of one, which must outlive it. Equal factors share their cells again.
class Shrinking {
 public:
  explicit Shrinking(const PairwiseProblem& problem) : problem_(problem) {}

  // `kept`: by variable, the values that stay; value i of the result is kept[variable][i]. The
  // result has no symmetries and no rows of memory.
  PairwiseProblem Of(const std::vector<Values>& kept);

 private:
  Cells CellsOf(const Factor& factor, const Values& rows, const Values& columns) const;

  const PairwiseProblem& problem_;
  std::set<Values> lists_;
  std::map<size_t, DomainPtr> domains_;
  std::map<std::tuple<Cells, const Values*, const Values*>, Cells> cells_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_SHRINK_H_
