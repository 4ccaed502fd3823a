// The choice between spaces of plans of which neither contains the other: `SearchSpaces` of
// search/search.h. Each space has its own graph; the search runs on each that may hold the best
// plan.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opsemantics/base/status.h"
#include "search/cost/table_cache.h"
#include "search/engines/alternatives.h"
#include "search/engines/flat_may_differ.h"
#include "search/engines/pins_in_the_way.h"
#include "search/engines/shared_graph.h"
#include "search/model/grid_bound.h"
#include "search/model/grid_problem.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/partials.h"
#include "search/search.h"
#include "search/solve/budget.h"

namespace yuba::search {
namespace {

// Accumulators are searched in full only where the quick recursion saves 2 % of the bytes with
// them.
constexpr double kLikely = 0.98;

// Whether a quick lower bound shows that no plan of `graph` moves fewer than `bytes`.
bool NoneBelow(int64_t bytes, const Graph& graph, const SearchOptions& options,
               const Budget& budget) {
  const double bytes_to_stop_at = static_cast<double>(bytes) * (1 + 1e-6);
  const std::vector<TensorUse> uses = TensorUsesOf(graph, options.mesh);
  return DualBound(graph, options.mesh, uses, budget, bytes_to_stop_at, options.table_cache.get())
             .bytes >= bytes;
}

// Whether no plan of the graph without accumulators moves less, whatever memory it takes: each such
// plan has a counterpart with accumulators that moves no more, and `found` is the best of those.
// That does not hold of graphs with partials, whose partials differ without accumulators.
bool MovesLeast(const absl::StatusOr<PlannedGraph>& found) {
  return found.ok() && found->plan.cost.bytes() <= found->plan.lower_bound &&
         found->plan.proof.prices.empty() && !HasPartials(found->graph);
}

// Whether there are plans with accumulators that the search of this graph leaves out.
bool MaySave(const SearchOptions& options, const Graph& graph) {
  return options.accumulators == Accumulators::kAuto && options.copies > 0 &&
         options.search == "default" && options.pins.empty() && options.pin_texts.empty() &&
         !HasAccumulators(graph);
}

// The gap: the part of a plan's bytes that lies above its lower bound, 0 to 1.
double GapOf(const Plan& plan) {
  const auto bytes = static_cast<double>(plan.cost.bytes());
  return bytes == 0 ? 0 : (bytes - static_cast<double>(plan.lower_bound)) / bytes;
}

// Whether `found` saves bytes over `plan`, and either saves more than its bound leaves open or has
// no larger a gap: a plan that is only a little cheaper is not worth a looser bound.
bool IsWorthIt(const Plan& found, const Plan& plan) {
  const int64_t bytes = found.cost.bytes(), saved = plan.cost.bytes() - bytes;
  return saved > 0 && (saved > bytes - found.lower_bound || GapOf(found) <= GapOf(plan));
}

absl::StatusOr<PlannedGraph> SearchThis(Graph graph, const SearchOptions& options) {
  YUBA_ASSIGN_OR_RETURN(Plan plan, Search(graph, options));
  return PlannedGraph{std::move(graph), std::move(plan), {}};
}

// Whether the program of this plan keeps to the limit on memory.
bool IsWithin(const SearchOptions& options, const PlannedGraph& found) {
  return options.memory_limit == 0 ||
         (options.memory_of && options.memory_of(found.graph, found.plan) <= options.memory_limit);
}

// Replaces `best` by a plan with accumulators where that is worth it. It is searched for only where
// the quick recursion already saves with accumulators. That search has no limit on memory; the plan
// is taken if its arena happens to meet the limit. Returns why there was no such search, or "".
std::string TryAccumulators(const Graph& bare, SearchOptions options, const Budget& budget,
                            absl::StatusOr<PlannedGraph>& best) {
  options.accumulators = Accumulators::kAll;
  Graph graph = SharedGraph(bare, options);
  if (!HasAccumulators(graph)) return "";
  SearchOptions quick = InTimeLeft(options, budget);
  quick.search = "recursive";
  quick.replicate = Replicate::kNone;
  quick.memory_limit = 0;
  const absl::StatusOr<Plan> likely = Search(graph, quick);
  // The recursion knows neither replicas nor a limit. Where the plan may have been searched with
  // either, the recursion with accumulators is compared to the recursion without.
  const bool alike = options.replicate == Replicate::kNone && options.memory_limit == 0;
  quick.time_limit = InTimeLeft(options, budget).time_limit;
  const absl::StatusOr<Plan> before =
      alike ? absl::StatusOr<Plan>(best->plan) : Search(best->graph, quick);
  if (!likely.ok() || !before.ok()) return "";
  if (static_cast<double>(likely->cost.bytes()) >
      kLikely * static_cast<double>(before->cost.bytes())) {
    return "no accumulators: a quick search with them, level by level, did not promise to save 2 "
           "%, "
           "so they were not searched in full (--accumulators all does)";
  }
  SearchOptions unlimited = InTimeLeft(options, budget);
  unlimited.memory_limit = 0;
  absl::StatusOr<PlannedGraph> found = SearchThis(std::move(graph), unlimited);
  if (!found.ok()) return "";
  found->plan.space.memory = options.memory_limit;
  if (IsWorthIt(found->plan, best->plan) && IsWithin(options, *found)) {
    TakeBetter(std::move(found), best);
  }
  return "";
}

// The best plan of the graph with what the options let it share, and of the graph without
// accumulators where there is a limit on memory, since partials that wait for their sum take
// memory.
absl::StatusOr<PlannedGraph> SearchShared(const Graph& bare, const SearchOptions& options,
                                          const Budget& budget) {
  Graph graph = SharedGraph(bare, options);
  const bool may_save = MaySave(options, graph);
  const bool may_differ = options.memory_limit > 0 && options.accumulators == Accumulators::kAuto &&
                          options.pins.empty() && HasAccumulators(graph);
  absl::StatusOr<PlannedGraph> best = SearchThis(std::move(graph), InTimeLeft(options, budget));
  std::string left_out;
  if (best.ok() && may_save && !IsOver(best, budget)) {
    left_out = TryAccumulators(bare, options, budget, best);
  }
  if (may_differ && !IsOver(best, budget) && !MovesLeast(best)) {
    SearchOptions without = InTimeLeft(options, budget);
    without.accumulators = Accumulators::kNone;
    if (best.ok()) without.known_bytes = best->plan.cost.bytes();
    TakeBetter(SearchThis(SharedGraph(bare, without), without), best);
  }
  if (!best.ok()) return best;
  for (std::string why : {std::move(left_out), WhyNoAccumulators(best->graph, options),
                          WhyNoPartials(best->graph, options)}) {
    if (!why.empty()) best->left_out.push_back(std::move(why));
  }
  return best;
}

// Searches the variant with flat dimensions, whose plan replaces `best` where it is better.
void TryFlat(const Variant& variant, SearchOptions options, const Budget& budget,
             absl::StatusOr<PlannedGraph>& best) {
  options.factors = false;
  const absl::StatusOr<Graph> flat = variant(false);
  if (!flat.ok()) return;
  const bool bounded = best.ok() && options.replicate == Replicate::kNone;
  if (bounded && NoneBelow(best->plan.cost.bytes(), SharedGraph(*flat, options), options, budget)) {
    return;
  }
  if (best.ok() && budget.ShouldStop()) return;
  if (best.ok()) options.known_bytes = best->plan.cost.bytes();
  TakeBetter(SearchShared(*flat, options, budget), best);
}

// The search that the options ask for, on the variants that they leave open.
absl::StatusOr<PlannedGraph> SearchVariants(const Variant& variant, const SearchOptions& options) {
  const Budget budget(options.time_limit, options.threads, options.asked);
  YUBA_ASSIGN_OR_RETURN(const Graph bare, variant(options.factors));
  const bool may_differ = options.factors && options.flat_too && options.pins.empty() &&
                          FlatMayDiffer(bare, options.mesh);
  absl::StatusOr<PlannedGraph> best = SearchShared(bare, options, budget);
  // Where the time was too short for any plan with factors, flat dimensions may have one that fits.
  if (may_differ && (absl::IsDeadlineExceeded(best.status()) || !IsOver(best, budget))) {
    TryFlat(variant, options, budget, best);
  }
  MarkStopped(budget, best);
  return best;
}

}  // namespace

absl::StatusOr<PlannedGraph> SearchSpaces(const Variant& variant, const SearchOptions& given) {
  SearchOptions options = given;
  // What one search has counted the next one need not.
  options.table_cache = std::make_shared<TableCache>();
  return SearchNamingPins(options, variant, SearchVariants);
}

}  // namespace yuba::search
