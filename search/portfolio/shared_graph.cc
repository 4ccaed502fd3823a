// Which copies, accumulators and partials a graph gets: `SharedGraph` of search/search.h.
#include "search/portfolio/shared_graph.h"

#include "absl/strings/str_cat.h"
#include "search/engines/task.h"
#include "search/portfolio/check_options.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/copies.h"
#include "search/rewrite/partials.h"
#include "search/search.h"

namespace yuba::search {
namespace {

bool IsPinned(const SearchOptions& options) {
  return !options.pins.empty() || !options.pin_texts.empty();
}

// Whether sums may stay unreduced but for pins, which say nothing of groups of devices.
bool AllowsPartials(const SearchOptions& options) {
  return options.partials && options.replicate == Replicate::kAuto && options.search == "default";
}

}  // namespace

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
  // Pins by number are of a graph without accumulators, which change the numbers of nodes.
  const bool none = options.accumulators == Accumulators::kNone ||
                    (automatic && (!options.copies || !options.pins.empty()));
  Graph graph = options.copies ? WithCopies(bare) : bare;
  if (!none) {
    Graph accumulating = WithAccumulators(graph, options.mesh);
    if (!automatic || CheckCountable(accumulating, options.mesh).ok()) {
      graph = std::move(accumulating);
    }
  }
  if (!AllowsPartials(options) || IsPinned(options)) return graph;
  Graph unreduced = WithPartials(graph, options.mesh);
  return FitsInTables(unreduced, options.mesh, true) ? unreduced : graph;
}

}  // namespace yuba::search
