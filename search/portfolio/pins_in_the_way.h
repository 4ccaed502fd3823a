// Says which pins are the reason that a search within a limit on memory finds nothing: it searches
// again without them and reports what would fit. This only makes an error message better; a search
// that succeeds is passed through.
#ifndef YUBA_SEARCH_PORTFOLIO_PINS_IN_THE_WAY_H_
#define YUBA_SEARCH_PORTFOLIO_PINS_IN_THE_WAY_H_

#include <functional>

#include "absl/status/statusor.h"
#include "search/search.h"

namespace yuba::search {

// A search of a model's variants with these options.
using SearchOfVariants =
    std::function<absl::StatusOr<PlannedGraph>(const Variant&, const SearchOptions&)>;

// Runs `search` and returns its plan or its error. Where there is a limit on memory, there are
// pins, and nothing fits (FailedPrecondition), `search` is asked again without any pin and, if that
// fits, without each pin alone (of many, the first eight). The error, of the same code, then names
// the pins that are in the way and the bytes a device that fit without them, or says that nothing
// fits without pins either, or that the time did not suffice. All searches share
// options.time_limit. Without options.memory_of the error is passed through as it is.
absl::StatusOr<PlannedGraph> SearchNamingPins(const SearchOptions& options, const Variant& variant,
                                              const SearchOfVariants& search);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PORTFOLIO_PINS_IN_THE_WAY_H_
