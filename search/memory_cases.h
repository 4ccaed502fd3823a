// Bounds of problems with memory by cases (branch and bound; Land and Doig 1960): where prices
// leave open whether a variable uses much or little, or a factor costs anything, both are tried,
// each at prices of its own.
#ifndef YUBA_SEARCH_MEMORY_CASES_H_
#define YUBA_SEARCH_MEMORY_CASES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/optional.h"
#include "search/budget.h"
#include "search/memory_plan.h"
#include "search/memory_price.h"
#include "search/memory_split.h"
#include "search/pairwise.h"

namespace yuba {

// A case that is not split has prices. Else it is two: in the first of those that follow, with all
// that it is split into, it is `bytes` at most, in the other one more.
struct MemoryCase {
  MemorySplit split;
  std::vector<MemoryPrice> prices;
  std::vector<DualMessage> messages;  // where bounds have them
};

struct CasesOptions {
  // The bound that prices give of the problem under conditions (memory_split.h), and an assignment
  // that is cheap at them; nothing where there was no time.
  std::function<absl::optional<PricedBound>(const PairwiseProblem& limited,
                                            const std::vector<MemoryPrice>& prices)>
      bound_at;
  int64_t sums = 0;               // of one such bound
  int64_t most_sums = 0;          // of all of them
  int64_t patience = kForbidden;  // of those that do not come nearer to what is known
  size_t most_cases = kMostCases;
  std::vector<MemoryPrice> prices;      // to begin with
  std::vector<int> variables, factors;  // that may be split; such a variable has a use
  int64_t known = kForbidden;           // what costs as much is of no use
  // Is given assignments within the rows that cost less than `known`; says what others then must
  // cost less than.
  std::function<int64_t(const Assignment&)> take;
};

struct CasesFound {
  int64_t bound = 0;  // no assignment within the limit costs less, unless it costs `known`
  std::vector<MemoryCase> cases;
};

// Splits the case of the least bound, again and again, until that is `known`, no case can be split,
// or the work is done. Deterministic but for the budget.
CasesFound BoundByCases(const PairwiseProblem& problem, const CasesOptions& options,
                        const Budget& budget);

}  // namespace yuba

#endif  // YUBA_SEARCH_MEMORY_CASES_H_
