#include "search/limited.h"

#include <numeric>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "search/baselines/baselines.h"
#include "search/copies.h"
#include "search/grids_within.h"
#include "search/partials.h"
#include "search/together.h"
#include "search/unlimited.h"
#include "search/within_limit.h"

namespace yuba {
namespace {

bool Fits(const SearchOptions& options, const Plan& plan) {
  return options.memory_limit == 0 ||
         (options.memory_of && options.memory_of(plan) <= options.memory_limit);
}

// What those baselines choose that replicate, or do not; they know no copies.
std::vector<Cuts> CutsOfBaselines(const Graph& graph, const SearchOptions& options,
                                  bool replicates, const Budget& budget) {
  const Uncopied bare = WithoutCopies(graph);
  std::vector<Cuts> cuts;
  for (const Baseline& baseline : Baselines()) {
    if (baseline.replicates != replicates || budget.Spent()) continue;
    cuts.push_back(CutsWithCopies(
        graph, bare, baseline.find(bare.graph, options.mesh, options.table_cells, budget)));
  }
  return cuts;
}

// With a limit on memory, or with replicas: all axes at once, or what is known. With `explain` an
// error says how much is needed.
absl::StatusOr<Plan> SearchLimited(const Graph& graph, const SearchOptions& options,
                                   const Restrictions& restrictions, bool explain,
                                   const Budget& budget) {
  const bool replicate = options.replicate == "auto";
  const auto limited_plan = [&](Plan plan) {
    plan.space.replicate = options.replicate;
    plan.space.memory = options.memory_limit;
    return plan;
  };
  // Others know nothing of sums that stay apart.
  const bool partials = HasPartials(graph);
  const Graph whole = partials ? WithoutPartials(graph) : graph;
  const auto of_graph = [&](Cuts cuts) {
    return partials ? WithGroups(graph, options.mesh, std::move(cuts)) : cuts;
  };
  Plan plain = SearchUnlimited(whole, options, restrictions, budget);
  plain = limited_plan(
      PlanOf(graph, options, {of_graph(AllCuts(plain)), plain.lower_bound, plain.proof}));
  if (replicate) {  // its bound is of plans without replicas
    plain.lower_bound = 0;
    plain.proof = Proof();
  }
  const bool fits = Fits(options, plain);
  if (fits && !replicate) return plain;
  if (!restrictions.empty() && !FitsInTables(graph, options.mesh)) {
    return UserError("on ", options.mesh.devices(), " devices the tables of this graph are too ",
                     "large for pins together with --memory or --replicate auto: leave one of them ",
                     "out, or use fewer devices");
  }
  LimitedSearch limited;
  limited.explain = explain;
  limited.problem = OptionsOf(options, restrictions, budget);
  limited.problem.axes.resize(options.mesh.axes.size());
  std::iota(limited.problem.axes.begin(), limited.problem.axes.end(), 0);
  limited.problem.replicate = replicate;
  limited.problem.cluster = false;
  limited.limit = options.memory_limit;
  limited.table_cells = options.table_cells;
  limited.known = {AllCuts(plain), of_graph(AllCuts(SearchRecursive(whole, options, {}, budget)))};
  const bool together = FitsInTables(graph, options.mesh);
  const auto add_others = [&](bool replicates) {
    for (Cuts& cuts : CutsOfBaselines(whole, options, replicates, budget)) {
      limited.others.push_back(of_graph(std::move(cuts)));
    }
  };
  if (replicate) add_others(true);
  if (together) add_others(false);
  limited.last = [&] { return CutsOfBaselines(whole, options, false, budget); };
  if (options.memory_of) {
    limited.memory_of = [&](const Cuts& cuts) {
      return options.memory_of(PlanOf(graph, options, {cuts, 0, Proof()}));
    };
  }
  absl::StatusOr<LimitedCuts> found = together ? SearchWithinLimit(graph, limited)
                                                 : SearchGridsWithinLimit(graph, limited);
  if (!found.ok() && fits && budget.end() != Budget::End::kNone) return plain;
  if (!found.ok()) return found.status();
  Plan plan = limited_plan(PlanOf(
      graph, options, {std::move(found->cuts), found->lower_bound, std::move(found->proof)}));
  // No limit makes plans cheaper: the bound without one holds too.
  if (!replicate && plain.lower_bound > plan.lower_bound) {
    plan.lower_bound = plain.lower_bound;
    plan.proof = plain.proof;
  }
  return plan;
}

}  // namespace

// Within a limit also without replicas: of those plans there are fewer to look through.
absl::StatusOr<Plan> SearchWithMemory(const Graph& graph, const SearchOptions& options,
                                      const Restrictions& restrictions, const Budget& budget) {
  const bool partials = HasPartials(graph);
  YUBA_CHECK(restrictions.empty() || !partials) << "pins say nothing of groups";
  absl::StatusOr<Plan> plan = SearchLimited(graph, options, restrictions, true, budget);
  const bool best = plan.ok() && plan->cost.bytes() == plan->lower_bound;
  if (options.replicate != "auto" || options.memory_limit == 0 || best || budget.Spent() ||
      !FitsInTables(graph, options.mesh)) {
    return plan;
  }
  const auto of_graph = [&](const Plan& other) {
    Cuts cuts = AllCuts(other);
    if (partials) cuts = WithGroups(graph, options.mesh, std::move(cuts));
    Plan made = PlanOf(graph, options, {std::move(cuts), 0, Proof()});
    made.space.replicate = options.replicate;
    made.space.memory = options.memory_limit;
    return made;
  };
  SearchOptions none = options;
  none.replicate = "none";
  if (options.memory_of) {
    none.memory_of = [&](const Plan& other) { return options.memory_of(of_graph(other)); };
  }
  const absl::StatusOr<Plan> found =
      SearchLimited(partials ? WithoutPartials(graph) : graph, none, restrictions, false, budget);
  if (!found.ok()) return plan;
  Plan other = of_graph(*found);
  if (!Meets(AllCuts(other), restrictions)) return plan;
  if (!plan.ok()) return other;
  if (other.cost.bytes() >= plan->cost.bytes()) return plan;
  other.lower_bound = plan->lower_bound;
  other.proof = plan->proof;
  return other;
}

}  // namespace yuba
