// Rows of costs that differ in the order of the factors alone, as one.
//
// Where the factors of a use exchange their pairs of ways, costs stay (factor_pairs.h). A row of
// costs, of one node grid by tensor grids, then is that of another node grid in another order, and
// only one of the two is kept. Example: nodes that cut factors 0 and 1 in 2 and 4 or in 4 and 2:
// the second puts factor 1 first, and of a tensor [2, 8] it looks where the first looks for [8, 2].
// Where the node cuts two factors alike, [2, 8] and [8, 2] cost the same in one row.
#ifndef YUBA_SEARCH_CHECK_ARRANGEMENTS_H_
#define YUBA_SEARCH_CHECK_ARRANGEMENTS_H_

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace yuba::search {

// Places of tensor grids in rows: one for each sequence of ways to cut factors that some
// arrangement of the factors has.
class Arrangements {
 public:
  // `ways`: [factor][tensor grid], each below `number`.
  Arrangements(std::vector<const std::vector<int>*> ways, int number, size_t grids);

  // An arrangement: its first factor, its second and so on; with equal numbers `alike`, which stand
  // next to each other, those are that the node cuts alike.
  struct Order {
    std::vector<size_t> factors;
    std::vector<int> alike;
  };
  // The number of the arrangement.
  int NumberOf(const Order& order);
  // By arrangement, then by tensor grid: its place.
  const std::vector<std::vector<int>>& places() const { return places_; }
  // How many places there are, of all arrangements so far.
  int size() const { return size_; }

 private:
  int PlaceOf(const std::vector<int>& ways);

  const std::vector<const std::vector<int>*> ways_;
  const int number_;
  const size_t grids_;
  // The sequences as a tree: [node * number_ + way] the next node, behind the last factor the
  // place; -1: none yet.
  std::vector<int> next_;
  // By the factors, and by which of them are cut as the one before.
  std::map<std::pair<std::vector<size_t>, std::vector<bool>>, int> numbers_;
  std::vector<std::vector<int>> places_;
  int size_ = 0;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_ARRANGEMENTS_H_
