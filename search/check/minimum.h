// One step of the checker's bucket elimination: all tables of one variable are replaced by the
// least of their sum over its values.
//
// Variables are elements of the graph, values are choices. A step that eliminates y from
// f(x, y) and g(y, z) makes h(x, z) = min over y of f(x, y) + g(y, z).
#ifndef YUBA_SEARCH_CHECK_MINIMUM_H_
#define YUBA_SEARCH_CHECK_MINIMUM_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace yuba::search {

// A table of costs over variables, row-major in the order of `scope`.
struct CheckTable {
  using Cells = std::shared_ptr<const std::vector<int64_t>>;
  std::vector<int> scope;
  Cells cells;
};

// By variable, then [renaming][value]: what each value becomes when equal mesh axes are renamed.
// The first renaming changes nothing. No cost changes when all variables are renamed at once.
using Renamings = std::vector<std::shared_ptr<const std::vector<std::vector<int>>>>;

// By entry of `scope`, its place in `joint`; of one that is not there, behind the last.
std::vector<int> PlacesIn(const std::vector<int>& joint, const std::vector<int>& scope);

// A table over `scope`, row-major: the least sum of `tables` over the values of `variable`, which
// is in the scope of each of them.
std::vector<int64_t> LeastSums(const std::vector<int>& scope, int variable,
                               const std::vector<CheckTable>& tables, const Renamings& renamings);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_MINIMUM_H_
