// The proof of a bound by blocks (blocks.h), round after round.
#ifndef YUBA_SEARCH_BLOCK_ROUND_H_
#define YUBA_SEARCH_BLOCK_ROUND_H_

#include <cstdint>
#include <vector>

namespace yuba {

// One more copy of a variable: it meets these neighbours in the variable's place, and its values
// have these prices, which are taken off those of the variable's first copy.
struct BlockCopy {
  int variable = -1;
  std::vector<int> neighbours;
  std::vector<int64_t> prices;  // by value that is left
  friend bool operator==(const BlockCopy& a, const BlockCopy& b) {
    return a.variable == b.variable && a.neighbours == b.neighbours && a.prices == b.prices;
  }
};

// After it no value is left that costs `limit` or more in the split problem.
struct BlockRound {
  int64_t limit = 0;
  std::vector<BlockCopy> copies;
  // Of elimination: variables are their own first copies, then come `copies`.
  std::vector<int> order;
  friend bool operator==(const BlockRound& a, const BlockRound& b) {
    return a.limit == b.limit && a.copies == b.copies && a.order == b.order;
  }
};

}  // namespace yuba

#endif  // YUBA_SEARCH_BLOCK_ROUND_H_
