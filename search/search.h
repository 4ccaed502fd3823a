// The search: the plan that moves the fewest bytes.
//
// A graph and options come in, a plan with its lower bound and proof goes out. Search blocks until
// the plan is proved optimal, no engine can improve it, the time limit is reached or
// `options.asked` says to stop. Example:
//   SearchOptions options;
//   options.mesh = MeshOf(8);
//   absl::StatusOr<Plan> plan = Search(SharedGraph(graph, options), options);
// plan->cost.bytes() is at least plan->lower_bound; where both are equal the plan is optimal in its
// space.
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

// The options with what the budget leaves of their time limit, at least a millisecond.
SearchOptions InTimeLeft(SearchOptions options, const Budget& budget);

// The different texts of the options' pins ("" for pins that nobody wrote), and the options without
// the pins of one text.
std::vector<std::string> PinTexts(const SearchOptions& options);
SearchOptions WithoutPin(SearchOptions options, const std::string& text);

// What `options.search` may be: "default", "recursive" and the baselines (baselines/baselines.h).
std::vector<std::string> SearchNames();

// The graph that these options plan: `bare` with copies and accumulators; and with partials where
// replicas are allowed, the search is the default and there are no pins.
Graph SharedGraph(const Graph& bare, const SearchOptions& options);

// A plan for `graph`, which has its copies, accumulators and partials already (SharedGraph).
//
// With pins the lower bound is still that of all plans, so that the gap is what the pins cost;
// where the pins leave no choice, the plan is only priced and there is no bound. The plan is
// deterministic, and independent of names and, ties aside, of the order of nodes in the file. If
// something stops the search, the plan says so (Plan::stopped) and is the best by then, with the
// best bound by then.
//
// Errors: InvalidArgument where the options contradict each other or do not suit the graph, or a
// pin cannot be satisfied. With a limit on memory also FailedPrecondition where no plan within it
// was found, and DeadlineExceeded or Cancelled where the search was stopped before. NotFound where
// no plan moves less than options.known_bytes. Cancelled where `options.asked` is true at the
// beginning.
absl::StatusOr<Plan> Search(const Graph& graph, const SearchOptions& options);

// What each pin costs: the bytes that `plan`, which Search found with these options, moves more
// than the plan without the pins of that text. Pins for which there is no time are left out.
struct PinPrice {
  std::string text;
  int64_t bytes = 0;
};
absl::StatusOr<std::vector<PinPrice>> PricesOfPins(const Graph& graph, const SearchOptions& options,
                                                   const Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SEARCH_H_
