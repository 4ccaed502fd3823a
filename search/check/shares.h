// Which pairs of ways to cut a factor cost the same.
#ifndef YUBA_SEARCH_CHECK_SHARES_H_
#define YUBA_SEARCH_CHECK_SHARES_H_

#include <cstdint>
#include <vector>

#include "search/check/crossing.h"
#include "search/check/overlap.h"

namespace yuba::search {

// All that a cost depends on of one factor of a use, cut in some way by the node and in some way by
// the tensor.
struct FactorPair {
  int64_t boxes = 1, volume = 0;  // of the node: how many, and the elements of all added up
  OverlapBound shared;
  FactorReach reach;  // none where costs do not depend on it
};

// The pair as numbers, in which elements are counted as shares of all that the factor has. In a set
// of pairs, one for each factor of a use, a pair with the same numbers costs the same: bounds are
// products over the factors, rounded at the end, and the product of all factors' elements is the
// tensor's. So a dimension of 64 elements in 4 parts is as one of 32. `extents`: of the factor's
// dimensions.
std::vector<Large> SharesOf(const FactorPair& pair, const std::vector<int64_t>& extents);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_SHARES_H_
