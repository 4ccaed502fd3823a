// The search: the plan that moves the fewest bytes. This is its face; search/portfolio/ has the
// bodies.
//
// A model's graphs and options come in, a plan with its lower bound and proof goes out. Example:
//   SearchOptions options;
//   options.mesh = MeshOf(8);
//   const auto variant = [&](bool) -> absl::StatusOr<Graph> { return graph; };
//   const absl::StatusOr<PlannedGraph> found = SearchSpaces(variant, options);
// found->plan is of found->graph. found->plan.cost.bytes() is at least found->plan.lower_bound;
// where both are equal the plan is optimal in its space. The functions here block until the plan is
// proved optimal, no engine can improve it, the time limit is reached or `options.asked` says to
// stop.
#ifndef YUBA_SEARCH_SEARCH_H_
#define YUBA_SEARCH_SEARCH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"
#include "search/search_options.h"

namespace yuba::search {

// What `options.search` may be: "default", "recursive" and the baselines (baselines/baselines.h).
std::vector<std::string> SearchNames();

// The engines of the default search, in the order in which they run (engines/engine_table.cc).
std::vector<std::string> EngineNames();

// The model's graph with factors or with flat dimensions, with nothing shared yet: no copies,
// accumulators or partials. It is asked for only where it is searched, perhaps several times, and
// must return the same graph each time. An error for flat dimensions leaves them out.
using Variant = std::function<absl::StatusOr<Graph>(bool factors)>;

// A plan and the graph that it is of: the variant of plan.space.factors, with the copies,
// accumulators and partials that plan.space states.
struct PlannedGraph {
  Graph graph;
  Plan plan;
  // For people, a sentence each: what the options allow and the search left out all the same, and
  // why; what must be said of a baseline's plan; whose plan this is where it is not the search's.
  std::vector<std::string> remarks;
};

// The best plan of all spaces that the options leave open, none of which contains the others.
//
// With options.flat_too, factors and flat dimensions: a dimension of 256 that is 4 heads of 64 has
// the factors (4 64), and so a plan can cut whole heads; over 7 devices it can cut the 4 heads (3
// devices get none) or the 64 elements within each head (parts of 4 x 10), while the flat dimension
// is cut into parts of at most 37. With pins by number (options.pins) only the variant of
// options.factors is searched: the numbers are those of its tensors and nodes.
//
// Where accumulators are left to us (kAuto), the graph with them and, where it may have a cheaper
// plan, the graph without: with them there are more plans, of which the best are harder to find,
// and under a limit accumulators take memory.
//
// Copies are limited by options.memory_limit alone: where none is stated, a plan has all that save
// bytes, however much they hold (docs/decisions/138-speed-at-scale.md).
//
// Plan::lower_bound is of the space that the plan states, Plan::asked_bound of all spaces that were
// to be searched. Of a large graph without a limit on memory that is one space, and both are equal.
// With pins and the default search a search without them follows, in the time that is left, and the
// plan says what it found (Plan::unpinned). Errors as of Search. Where no plan fits, the error is
// that of the space that needs the least memory, and names the pins that are in the way
// (portfolio/pins_in_the_way.h).
absl::StatusOr<PlannedGraph> SearchSpaces(const Variant& variant, const SearchOptions& options);

// The graph that these options plan: `bare` with copies and accumulators; and with partials where
// replicas are allowed, the search is the default and there are no pins. With accumulators left to
// us (kAuto) it has none where there are no copies, where pins are by number, and where plans could
// then move too many bytes to be counted (10^18).
Graph SharedGraph(const Graph& bare, const SearchOptions& options);

// A plan for `graph`, which has its copies, accumulators and partials already (SharedGraph).
//
// With pins plan and lower bound are of the plans that meet them. The plan is deterministic, and
// independent of names and, ties aside, of the order of nodes in the file. If something stops the
// search, the plan says so (Plan::stopped) and is the best by then, with the best bound by then.
//
// Errors: InvalidArgument where the options contradict each other or do not suit the graph, or a
// pin cannot be satisfied. With a limit on memory also FailedPrecondition where no plan within it
// was found, and DeadlineExceeded or Cancelled where the search was stopped before. NotFound where
// no plan moves less than options.known_value. Cancelled where `options.asked` is true at the
// beginning.
absl::StatusOr<Plan> Search(const Graph& graph, const SearchOptions& options);

// What is found without the pins of `plan`, which Search found with these options, in the same
// space otherwise; nothing where it has no pins, options.search is not the default, or time was too
// short.
absl::optional<Unpinned> SearchUnpinned(const Graph& graph, const SearchOptions& options,
                                        const Plan& plan);

// What each pin costs: the bytes that `plan`, which Search found with these options, moves more
// than the plan without the pins of that text. Pins for which there is no time are left out.
struct PinPrice {
  std::string text;
  int64_t value = 0;  // of the objective
};
absl::StatusOr<std::vector<PinPrice>> PricesOfPins(const Graph& graph, const SearchOptions& options,
                                                   const Plan& plan);

// The best plan found in which one element is cut otherwise than in `plan`: on another grid
// (plan/grid.h), since other names of mesh axes alone are no other choice. Example: of a weight
// that is [96/ab, 64] the runner-up may have [96/a, 64/b], or [96, 64/ab] where that is cheaper.
struct RunnerUp {
  Plan plan;            // of the same graph, mesh and space, priced; without bound and proof
  bool proved = false;  // whether no plan of the space with another grid of the element is cheaper
};
// The plan's pins hold, its limit on memory does not. Exact where the tables of all choices can be
// eliminated in about two seconds; else a local search that begins from `plan`. `time_limit`:
// seconds, 0: none. Errors: NotFound where the element has no other grid, or pins leave it none;
// InvalidArgument where the plan replicates tensors and has more mesh axes than tables are made of.
absl::StatusOr<RunnerUp> FindRunnerUp(const Graph& graph, const Plan& plan, int element,
                                      double time_limit);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SEARCH_H_
