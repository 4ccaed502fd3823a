// Which variables of a pairwise problem meet in a table, as elimination goes on.
#ifndef YUBA_SEARCH_SOLVE_INTERACTION_H_
#define YUBA_SEARCH_SOLVE_INTERACTION_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "search/solve/pairwise.h"

namespace yuba::search {

class Interaction {
 public:
  explicit Interaction(const PairwiseProblem& problem);

  int remaining() const { return remaining_; }
  bool Has(int variable) const { return alive_[variable]; }
  const std::vector<int>& neighbours(int variable) const { return neighbours_[variable]; }

  // The variable of at most so many neighbours that leaves the smallest table when it is
  // eliminated, -1 if there is none; the first of equals. `table` is the number of its cells,
  // saturating.
  int Cheapest(int64_t* table, size_t most_neighbours = std::numeric_limits<size_t>::max()) const;

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
  // A tournament: cheapest_[1] is the cheapest of all, cheapest_[i] that of [2i] and [2i + 1], and
  // the second half the variables, -1 where they are gone.
  std::vector<int> cheapest_;
  int remaining_ = 0;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_INTERACTION_H_
