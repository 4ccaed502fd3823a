// The search: the plan that moves the fewest bytes.
#ifndef YUBA_SEARCH_SEARCH_H_
#define YUBA_SEARCH_SEARCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/plan/plan.h"
#include "search/search_options.h"
#include "search/solve/budget.h"
#include "search/space/domain.h"
#include "search/space/pin.h"

namespace yuba::search {

// The options with what the budget leaves of their time.
SearchOptions InTimeLeft(SearchOptions options, const Budget& budget);

// The texts of the options' pins, each once, and the options without the pins of one text. Pins
// that nobody wrote are those of "".
std::vector<std::string> PinTexts(const SearchOptions& options);
SearchOptions WithoutPin(SearchOptions options, const std::string& text);

// "default", "recursive" and the baselines (baselines/baselines.h).
std::vector<std::string> SearchNames();

// The graph that these options plan: `bare` with copies, accumulators and, unless there are pins,
// partials.
Graph SharedGraph(const Graph& bare, const SearchOptions& options);

// A plan for `graph`, which has its copies, accumulators and partials already (SharedGraph); with
// pins its lower bound is that of all plans, so that the gap is what the pins cost, and where they
// leave no choice the plan is only priced. Deterministic, independent of names and of the order of
// nodes in the file beyond ties, unless something stops it: then the plan says so, and is the best
// by then with what was proved by then. An error where a pin cannot be satisfied, and where nothing
// within a limit on memory was found before the end; Cancelled where that is asked for before the
// search begins.
absl::StatusOr<Plan> Search(const Graph& graph, const SearchOptions& options);

// What each pin costs: the bytes that the plan, which Search found with these options, moves more
// than the plan without the pins of that text. Those for which there is no time are left out.
struct PinPrice {
  std::string text;
  int64_t bytes = 0;
};
absl::StatusOr<std::vector<PinPrice>> PricesOfPins(const Graph& graph, const SearchOptions& options,
                                                   const Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SEARCH_H_
