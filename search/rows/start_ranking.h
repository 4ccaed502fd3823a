// Which of many searches are worth going on with: those that are better than half of the searches
// before them were after as many rounds. Each search is compared at ages that double, so all ages
// together get about as much time each, and few searches, the best, become old (asynchronous
// successive halving: Li et al., "A system for massively parallel hyperparameter tuning", 2020).
//
// Example: the first search ends at age 0. The second is compared with it; if it is better it goes
// on to age 1, where it is the first and ends.
#ifndef YUBA_SEARCH_ROWS_START_RANKING_H_
#define YUBA_SEARCH_ROWS_START_RANKING_H_

#include <cstddef>
#include <vector>

namespace yuba::search {

class StartRanking {
 public:
  // Whether a search with that merit (less is better) at that age goes on to the next age. Equal
  // ones are not better: where searches end alike, new ones are worth more. Ages are asked about
  // from 0, without gaps.
  bool GoesOn(size_t age, double merit);

 private:
  std::vector<std::vector<double>> merits_;  // by age: ascending
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_START_RANKING_H_
