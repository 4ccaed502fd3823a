// Which copies, accumulators and partials a graph gets: `SharedGraph` of search/search.h.
#include "search/engines/shared_graph.h"

#include "absl/strings/str_cat.h"
#include "search/engines/check_options.h"
#include "search/engines/task.h"
#include "search/model/graph_problem.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/copies.h"
#include "search/rewrite/partials.h"
#include "search/search.h"
#include "search/solve/eliminate.h"

namespace yuba::search {
namespace {

// Whether all axes together can be placed by exact elimination, nothing replicated.
bool CanBeEliminated(const Graph& graph, const SearchOptions& options) {
  if (!FitsInTables(graph, options.mesh)) {
    return IsSoonEliminated(graph, options, {}, Budget::Unlimited());
  }
  // Which elements meet decides, not what they cost: no table is made.
  ProblemOptions scopes = AllAxesOf(options, {}, Budget::Unlimited());
  scopes.tables = false;
  const Problem problem = BuildProblem(graph, scopes);
  return GreedyOrder(problem.pairwise, options.table_cells, Budget::Unlimited()).has_value();
}

bool IsPinned(const SearchOptions& options) {
  return !options.pins.empty() || !options.pin_texts.empty();
}

// Whether sums may stay unreduced but for pins, which say nothing of groups of devices.
bool AllowsPartials(const SearchOptions& options) {
  return options.replicate == Replicate::kAuto && options.search == "default";
}

}  // namespace

std::string WhyNoAccumulators(const Graph& graph, const SearchOptions& options) {
  const bool left_out = IsPinned(options) && options.search == "default" && options.copies > 0 &&
                        options.accumulators == Accumulators::kAuto && !HasAccumulators(graph) &&
                        HasAccumulators(WithAccumulators(graph, options.mesh));
  return left_out ? "no accumulators, since there are pins and the search would not be exact "
                    "(--accumulators all takes them)"
                  : "";
}

std::string WhyNoPartials(const Graph& graph, const SearchOptions& options) {
  if (!AllowsPartials(options) || HasPartials(graph) || !MayStayUnreduced(graph, options.mesh)) {
    return "";
  }
  if (IsPinned(options)) return "every sum is reduced at once, since there are pins";
  const bool refused = !HasPartials(WithPartials(graph, options.mesh));
  return absl::StrCat("every sum is reduced at once: to leave sums unreduced ",
                      refused ? "could move 2^40 bytes a step, too many to compare"
                              : "has too many choices on so many devices");
}

Graph SharedGraph(const Graph& bare, const SearchOptions& options) {
  const bool automatic = options.accumulators == Accumulators::kAuto;
  const bool none =
      options.accumulators == Accumulators::kNone || (automatic && options.copies == 0);
  Graph graph = WithCopies(bare, options.copies);
  if (!none) {
    Graph accumulating = WithAccumulators(graph, options.mesh);
    const bool take =
        !automatic || !HasAccumulators(accumulating) ||
        (CheckCountable(accumulating, options.mesh).ok() && CanBeEliminated(accumulating, options));
    if (take) graph = std::move(accumulating);
  }
  if (!AllowsPartials(options) || IsPinned(options)) return graph;
  Graph unreduced = WithPartials(graph, options.mesh);
  return FitsInTables(unreduced, options.mesh, true) ? unreduced : graph;
}

}  // namespace yuba::search
