// Bucket elimination (Dechter 1999), as the checker does it.
#ifndef YUBA_SEARCH_CHECK_ELIMINATE_H_
#define YUBA_SEARCH_CHECK_ELIMINATE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "search/check/minimum.h"
#include "search/check/stop.h"

namespace yuba::search {

// The least sum of all tables over the values of all elements. `order`: the elements, each once.
// `values`: by element, what renames its values. An error where a table would have more than 2^27
// cells, or all of them need more than 2^36 sums.
//
// Example: of f(x, y) and g(y) in the order y, x it makes h(x) = min over y of f(x, y) + g(y), and
// returns the least of h.
absl::StatusOr<int64_t> LeastInOrder(const std::vector<int>& order, const Renamings& values,
                                     std::vector<CheckTable> tables, const Stop& stop);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_ELIMINATE_H_
