// One step of the checker's bucket elimination.
#ifndef YUBA_SEARCH_CHECK_MINIMUM_H_
#define YUBA_SEARCH_CHECK_MINIMUM_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace yuba {

// A table over variables, row-major in their order.
struct CheckTable {
  std::vector<int> scope;
  std::shared_ptr<const std::vector<int64_t>> cells;
};

// By variable and renaming: what each value becomes. Costs do not change when all are renamed.
using Renamings = std::vector<std::shared_ptr<const std::vector<std::vector<int>>>>;

// What is left of an elimination: tables, and the cost of all that has gone.
struct Left {
  std::vector<CheckTable> tables;
  int64_t least = 0;
};

// For all values of the variables in `scope`: the least sum of `tables` over the values of `variable`,
// which all of them have in their scopes.
std::vector<int64_t> LeastSums(const std::vector<int>& scope, int variable,
                               const std::vector<CheckTable>& tables, const Renamings& renamings);

}  // namespace yuba

#endif  // YUBA_SEARCH_CHECK_MINIMUM_H_
