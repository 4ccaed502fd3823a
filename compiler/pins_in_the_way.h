// Which pins a search within a limit on memory fails for.
#ifndef YUBA_COMPILER_PINS_IN_THE_WAY_H_
#define YUBA_COMPILER_PINS_IN_THE_WAY_H_

#include <functional>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "search/plan/plan.h"
#include "search/search.h"

namespace yuba::compiler {

// A search of a model that shares nothing yet; the model becomes what the plan is of.
using SearchModel =
    std::function<absl::StatusOr<search::Plan>(const search::SearchOptions&, Model&)>;

// `search`; where nothing fits under pins it is asked again without all of them and, if that fits,
// without each alone, of many the first few. The error then names the pins that are in the way and
// says what fits without them; or that nothing does.
absl::StatusOr<search::Plan> SearchNamingPins(const search::SearchOptions& options, Model& model,
                                              const SearchModel& search);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_PINS_IN_THE_WAY_H_
