// How much memory copies may take where nobody states a limit.
#ifndef YUBA_SEARCH_PORTFOLIO_COPIES_LIMIT_H_
#define YUBA_SEARCH_PORTFOLIO_COPIES_LIMIT_H_

#include <cstdint>

#include "search/search.h"

namespace yuba::search {

// The bytes a device within which to search again, because the plan's copies take too much; 0 where
// they do not, where a limit was stated, or where options.memory_of is empty.
//
// A copy lives until its last reader, in a training step often from the forward pass to the
// backward pass, so a plan may save few bytes and hold much. The same plan can do without: each
// reader gathers for itself. Where its program then needs M bytes a device, one with copies may
// need 3/2 M, and is kept up to a tenth above that. Example: a plan of a training step of ResNet-50
// on 8 devices needs 152 MB with copies and 124 MB without, which is within 186 MB.
int64_t LimitForCopies(const PlannedGraph& found, const SearchOptions& options);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PORTFOLIO_COPIES_LIMIT_H_
