// A problem with fewer values.
#ifndef YUBA_SEARCH_SOLVE_SHRINK_H_
#define YUBA_SEARCH_SOLVE_SHRINK_H_

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "search/solve/pairwise.h"

namespace yuba::search {

using Values = std::vector<int>;  // of a variable, each once

// Makes such problems of one, which must outlive it. Equal factors share their cells again.
class Shrinking {
 public:
  explicit Shrinking(const PairwiseProblem& problem) : problem_(problem) {}

  // By variable: value i is the i-th of those kept. Without symmetries and rows of memory.
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
