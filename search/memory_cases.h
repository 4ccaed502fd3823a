// Bounds of problems with memory by cases: where prices leave open whether a variable uses much or
// little, both are tried, each at prices of its own.
#ifndef YUBA_SEARCH_MEMORY_CASES_H_
#define YUBA_SEARCH_MEMORY_CASES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "search/budget.h"
#include "search/memory_price.h"
#include "search/pairwise.h"

namespace yuba {

// A node of a binary tree. A case whose variable is -1 is not split: its bound is at `prices`. Else
// the first case after it has that variable use at most `bytes` (the least of its values' usages
// that its first use has), the other one more.
struct MemoryCase {
  int variable = -1;
  int64_t bytes = 0;
  std::vector<MemoryPrice> prices;
};

struct CasesOptions {
  std::vector<int> order;           // of elimination, of so many sums
  int64_t sums = 0;
  std::vector<MemoryPrice> prices;  // to begin with
  std::vector<int> candidates;      // variables that may be split
  int64_t most = 0;                 // of a cost at prices, in units
  int64_t known = kForbidden;       // what costs as much is of no use
  // Asked about assignments within the rows that cost less than `known`; its answer is what they
  // then must cost less than.
  std::function<int64_t(const Assignment&)> take;
};

struct CasesFound {
  int64_t bound = 0;  // no assignment within the limit costs less
  std::vector<MemoryCase> cases;  // a case before those that it is split into, the lesser first
};

// Splits the case of the least bound, again and again, until that is `known`, or the work is done.
CasesFound BoundByCases(const PairwiseProblem& problem, const CasesOptions& options,
                        const Budget& budget);

}  // namespace yuba

#endif  // YUBA_SEARCH_MEMORY_CASES_H_
