// One step of the checker's bucket elimination.
#ifndef YUBA_SEARCH_CHECK_MINIMUM_H_
#define YUBA_SEARCH_CHECK_MINIMUM_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace yuba::search {

// A table over variables, row-major in their order.
struct CheckTable {
  using Cells = std::shared_ptr<const std::vector<int64_t>>;
  std::vector<int> scope;
  Cells cells;
};

// By variable and renaming: what each value becomes. Costs do not change when all are renamed.
using Renamings = std::vector<std::shared_ptr<const std::vector<std::vector<int>>>>;

// What is left of an elimination: tables, and the cost of all that has gone.
struct Remaining {
  std::vector<CheckTable> tables;
  int64_t least = 0;
};

inline constexpr int64_t kNoBudget = std::numeric_limits<int64_t>::max();

// For all values of the variables in `scope`, row-major: the least sum of `tables` over the values
// of `variable`, which all of them have in their scopes. Where it is above `budget` it may be given
// as the greatest number instead.
std::vector<int64_t> LeastSums(const std::vector<int>& scope, int variable,
                               const std::vector<CheckTable>& tables, const Renamings& renamings,
                               int64_t budget = kNoBudget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_MINIMUM_H_
