// Says which pins are the reason that a search within a limit on memory finds nothing: it searches
// again without them and reports what would fit. This only makes an error message better; a search
// that succeeds is passed through.
#ifndef YUBA_COMPILER_PINS_IN_THE_WAY_H_
#define YUBA_COMPILER_PINS_IN_THE_WAY_H_

#include <functional>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "search/plan/plan.h"
#include "search/search.h"

namespace yuba::compiler {

// A search of a model whose graph has no copies or accumulators yet. On success the model's graph
// is the one that the plan is of.
using SearchModel =
    std::function<absl::StatusOr<search::Plan>(const search::SearchOptions&, Model&)>;

// Runs `search` and returns its plan or its error. Where there is a limit on memory, there are
// pins, and nothing fits (FailedPrecondition), `search` is asked again without any pin and, if that
// fits, without each pin alone (of many, the first eight). The error, of the same code, then names
// the pins that are in the way and the bytes a device that fit without them, or says that nothing
// fits without pins either, or that the time did not suffice. All searches share
// options.time_limit.
absl::StatusOr<search::Plan> SearchNamingPins(const search::SearchOptions& options, Model& model,
                                              const SearchModel& search);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_PINS_IN_THE_WAY_H_
