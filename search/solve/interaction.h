// Which variables of a problem meet in a table while variables are eliminated: the graph of
// neighbours, and whose elimination leaves the smallest table. No costs are looked at.
#ifndef YUBA_SEARCH_SOLVE_INTERACTION_H_
#define YUBA_SEARCH_SOLVE_INTERACTION_H_

#include <cstdint>
#include <vector>

#include "search/solve/pairwise.h"

namespace yuba::search {

class Interaction {
 public:
  explicit Interaction(const PairwiseProblem& problem);

  int remaining() const { return remaining_; }  // variables that are neither eliminated nor removed
  bool Has(int variable) const { return alive_[variable]; }
  const std::vector<int>& neighbours(int variable) const { return neighbours_[variable]; }

  // The variable whose elimination leaves the smallest table; -1 if there is none; of equals the
  // first. *table: the number of its cells, saturating.
  int Cheapest(int64_t* table) const;

  void Eliminate(int variable);  // its neighbours become each other's
  void Remove(int variable);     // as if it had a single value

 private:
  void Detach(int variable);
  void Price(int variable);
  bool Before(int a, int b) const;  // -1 comes last
  void PlayAgain(int variable);

  std::vector<int64_t> sizes_;
  std::vector<std::vector<int>> neighbours_;  // sorted
  std::vector<int64_t> table_;
  std::vector<bool> alive_;
  // A tournament: cheapest_[1] is the cheapest variable of all, cheapest_[i] the cheaper one of
  // cheapest_[2i] and cheapest_[2i + 1]. The second half are the variables, -1 for eliminated ones.
  std::vector<int> cheapest_;
  int remaining_ = 0;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_INTERACTION_H_
