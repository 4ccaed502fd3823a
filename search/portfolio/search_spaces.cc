// The choice between spaces of plans of which neither contains the other: `SearchSpaces` of
// search/search.h. Each space has its own graph; the search runs on each that may hold the best
// plan.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "opsemantics/base/status.h"
#include "search/baselines/baselines.h"
#include "search/cost/table_cache.h"
#include "search/engines/engine.h"
#include "search/model/grid_bound.h"
#include "search/model/grid_problem.h"
#include "search/portfolio/alternatives.h"
#include "search/portfolio/flat_may_differ.h"
#include "search/portfolio/pins_in_the_way.h"
#include "search/portfolio/shared_graph.h"
#include "search/portfolio/shortest_step.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/partials.h"
#include "search/search.h"
#include "search/solve/budget.h"

namespace yuba::search {
namespace {

// Graphs of more nodes are searched with accumulators alone, where nothing limits memory: that
// takes half the time, and of training steps of ResNet-50, WResNet-152, a U-Net, GPT-2, BERT, a
// ViT, Mixtral, and RNNs (docs/search.md) the plans without moved from 0.03 % less to 5 % more.
constexpr size_t kMostNodesForBoth = 500;
// Graphs of more nodes whose factors nest in the mesh are not searched with flat dimensions too:
// what loose boxes alone cost is little (Llama-3-8B on 64 devices: nothing, in a third of the
// time).
constexpr size_t kMostNodesForFlat = 500;

// Whether a quick lower bound shows that no plan of `graph` moves fewer than `bytes`.
bool NoneBelow(int64_t bytes, const Graph& graph, const SearchOptions& options,
               const Budget& budget) {
  const double bytes_to_stop_at = static_cast<double>(bytes) * (1 + 1e-6);
  const std::vector<TensorUse> uses = TensorUsesOf(graph, options.mesh, options.objective);
  return DualBound(graph, options.mesh, uses, budget, bytes_to_stop_at, options.table_cache.get())
             .bytes >= bytes;
}

// Whether the bound of the plan holds without accumulators too, whatever memory they take: each
// such plan has a counterpart with accumulators that moves no more. That does not hold of graphs
// with partials, whose partials differ without accumulators, or where memory has a price.
bool BoundsUnaccumulated(const absl::StatusOr<PlannedGraph>& found) {
  return found.ok() && found->plan.proof.prices.empty() && !HasPartials(found->graph);
}

bool IsOptimal(const Plan& plan) { return plan.value() <= plan.lower_bound; }

absl::StatusOr<PlannedGraph> SearchThis(Graph graph, const SearchOptions& options) {
  YUBA_ASSIGN_OR_RETURN(Plan plan, Search(graph, options));
  return PlannedGraph{std::move(graph), std::move(plan), {}};
}

// Whether no plan of `graph` can move less than `best`, or as little with a smaller gap. Of plans
// with replicas there is no quick bound; a baseline is found sooner than one.
bool IsOfNoUse(const Graph& graph, const SearchOptions& options, const Budget& budget,
               const absl::StatusOr<PlannedGraph>& best) {
  const bool bounded =
      best.ok() && options.replicate == Replicate::kNone && FindBaseline(options.search) == nullptr;
  if (!bounded) return false;
  const bool has_gap = best->plan.value() > best->plan.lower_bound;
  return NoneBelow(best->plan.value() + has_gap, graph, options, budget);
}

// Searches the graph without accumulators, whose plan replaces `best` where it is better.
void TryUnaccumulated(const Graph& bare, const SearchOptions& options, const Budget& budget,
                      absl::StatusOr<PlannedGraph>& best) {
  SearchOptions without = NamedWithin("unaccumulated", options);
  without.accumulators = Accumulators::kNone;
  if (best.ok()) without.known_value = best->plan.value();
  Graph narrow = SharedGraph(bare, without);
  if (IsOfNoUse(narrow, without, budget, best)) return;
  if (best.ok() && budget.ShouldStop()) return LeaveUnsearched(best);
  TakeBetter(SearchThis(std::move(narrow), InTimeLeft(without, budget)), best);
}

// The best plan of the graph with what the options let it share, and of the graph without
// accumulators where they are left to us: there are more plans with them, so one with a small gap
// is harder to find, and partials that wait for their sum take memory.
absl::StatusOr<PlannedGraph> SearchShared(const Graph& bare, const SearchOptions& options,
                                          const Budget& budget) {
  Graph graph = SharedGraph(bare, options);
  const bool may_differ = options.accumulators == Accumulators::kAuto && HasAccumulators(graph);
  absl::StatusOr<PlannedGraph> best = SearchThis(std::move(graph), InTimeLeft(options, budget));
  // A pin may be of a term of a sum, which only the graph without accumulators stores.
  const bool refused = absl::IsInvalidArgument(best.status());
  const bool worth_it =
      !best.ok() || options.memory_limit > 0 || bare.nodes.size() <= kMostNodesForBoth;
  const bool bounds = BoundsUnaccumulated(best);
  if (may_differ && (refused || worth_it) && !(bounds && IsOptimal(best->plan))) {
    const int64_t bound = bounds ? best->plan.asked_bound : 0;
    if (refused || !IsOver(best, budget)) {
      TryUnaccumulated(bare, options, budget, best);
    } else {
      LeaveUnsearched(best);
    }
    if (bounds) best->plan.asked_bound = std::min(bound, best->plan.lower_bound);
  }
  if (!best.ok()) return best;
  const std::string why = WhyNoPartials(best->graph, options);
  if (!why.empty()) best->remarks.push_back(why);
  return best;
}

// Searches the variant with flat dimensions, whose plan replaces `best` where it is better, unless
// it is `bare` itself: then no dimension has factors.
void TryFlat(const Variant& variant, const Graph& bare, SearchOptions options, const Budget& budget,
             absl::StatusOr<PlannedGraph>& best) {
  options = NamedWithin("flat", std::move(options));
  options.factors = false;
  const absl::StatusOr<Graph> flat = variant(false);
  if (!flat.ok() || ComputesAlike(*flat, bare)) return;
  if (IsOfNoUse(SharedGraph(*flat, options), options, budget, best)) return;
  if (best.ok() && budget.ShouldStop()) return LeaveUnsearched(best);
  if (best.ok()) options.known_value = best->plan.value();
  TakeBetter(SearchShared(*flat, options, budget), best);
}

// The search that the options ask for, on the variants that they leave open.
absl::StatusOr<PlannedGraph> SearchVariants(const Variant& variant, const SearchOptions& options) {
  const Budget budget(options.time_limit, options.threads, options.asked);
  YUBA_ASSIGN_OR_RETURN(const Graph bare, variant(options.factors));
  const bool may_differ = options.factors && options.flat_too && options.pins.empty() &&
                          (FactorsMayNotNest(bare, options.mesh) ||
                           (bare.nodes.size() <= kMostNodesForFlat && HasLooseBoxes(bare)));
  absl::StatusOr<PlannedGraph> best = SearchShared(bare, options, budget);
  // Where the time was too short for any plan with factors, flat dimensions may have one that fits.
  if (may_differ && (absl::IsDeadlineExceeded(best.status()) || !IsOver(best, budget))) {
    TryFlat(variant, bare, options, budget, best);
  } else if (may_differ) {
    LeaveUnsearched(best);
  }
  MarkStopped(budget, best);
  return best;
}

// Of the time that there is, for a plan without the limit on memory.
constexpr double kFreeShare = 0.3;

// The best plan without the limit, where its program keeps to it all the same: no plan within the
// limit is better. Nothing where there is no limit, or it stands in the way. A search within a
// limit looks at several graphs and at rows of memory, which takes several times as long.
absl::optional<PlannedGraph> SearchFree(const Variant& variant, const SearchOptions& options) {
  if (options.memory_limit == 0 || !options.memory_of) return absl::nullopt;
  SearchOptions free = NamedWithin("free", options);
  free.memory_limit = 0;
  free.time_limit *= kFreeShare;
  absl::StatusOr<PlannedGraph> found = SearchVariants(variant, free);
  if (!found.ok() || !found->plan.stopped.empty()) return absl::nullopt;
  if (options.memory_of(found->graph, found->plan) > options.memory_limit) return absl::nullopt;
  found->plan.space.memory = options.memory_limit;
  return *std::move(found);
}

// The search that the options ask for, without a limit first.
absl::StatusOr<PlannedGraph> SearchWithin(const Variant& variant, const SearchOptions& options) {
  const Budget budget(options.time_limit, options.threads, options.asked);
  absl::optional<PlannedGraph> free = SearchFree(variant, options);
  if (free.has_value()) return *std::move(free);
  return SearchVariants(variant, InTimeLeft(options, budget));
}

// What a baseline must say of its plan.
void AddRemark(const SearchOptions& options, PlannedGraph& found) {
  const Baseline* baseline = FindBaseline(options.search);
  if (baseline == nullptr || baseline->remark == nullptr) return;
  const std::string remark = baseline->remark(found.graph, found.plan);
  if (!remark.empty()) found.remarks.push_back(absl::StrCat(baseline->name, ": ", remark));
}

}  // namespace

absl::StatusOr<PlannedGraph> SearchSpaces(const Variant& variant, const SearchOptions& given) {
  SearchOptions options = given;
  // What one search has counted the next one need not.
  options.table_cache = std::make_shared<TableCache>();
  const Budget budget(options.time_limit, options.threads, options.asked);
  absl::StatusOr<PlannedGraph> found = SearchNamingPins(options, variant, SearchWithin);
  if (found.ok()) AddRemark(options, *found);
  if (!found.ok() || budget.ShouldStop()) return found;
  TakeShortestStep(options, budget, *found);
  options = InTimeLeft(std::move(options), budget);
  options.factors = found->plan.space.factors;
  found->plan.unpinned = SearchUnpinned(found->graph, options, found->plan);
  return found;
}

}  // namespace yuba::search
