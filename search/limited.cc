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

// With a limit on memory, or with replicas: all axes at once, or what is known.
class Limiting {
 public:
  Limiting(const Graph& graph, const SearchOptions& options, const Restrictions& restrictions,
           const Budget& budget)
      : graph_(graph),
        options_(options),
        restrictions_(restrictions),
        budget_(budget),
        replicate_(options.replicate == "auto"),
        together_(FitsInTables(graph, options.mesh)),
        partials_(HasPartials(graph)),
        whole_(partials_ ? WithoutPartials(graph) : graph) {}

  // With `explain` an error says how much is needed.
  absl::StatusOr<Plan> Run(bool explain) const {
    const bool refused = !restrictions_.empty() && !together_;
    if (refused && replicate_) return PinsRefused();
    Plan plain = Plain();
    const bool fits = Fits(options_, plain);
    if (fits && !replicate_) return plain;
    if (refused) return PinsRefused();
    LimitedSearch limited = SearchFrom(plain);
    limited.explain = explain;
    absl::StatusOr<LimitedCuts> found = together_ ? SearchWithinLimit(graph_, limited)
                                                  : SearchGridsWithinLimit(graph_, limited);
    if (!found.ok() && fits && budget_.end() != Budget::End::kNone) return plain;
    if (!found.ok()) return found.status();
    Plan plan = PlanFrom({std::move(found->cuts), found->lower_bound, std::move(found->proof)});
    // No limit makes plans cheaper: the bound without one holds too.
    if (!replicate_ && plain.lower_bound > plan.lower_bound) {
      plan.lower_bound = plain.lower_bound;
      plan.proof = plain.proof;
    }
    return plan;
  }

 private:
  absl::Status PinsRefused() const {
    return UserError("on ", options_.mesh.devices(), " devices the tables of this graph are too ",
                     "large for pins together with --memory or --replicate auto: leave one of ",
                     "them out, or use fewer devices");
  }

  Plan PlanFrom(Found found) const {
    Plan plan = PlanOf(graph_, options_, std::move(found));
    plan.space.replicate = options_.replicate;
    plan.space.memory = options_.memory_limit;
    return plan;
  }

  // Others know nothing of sums that stay apart.
  Cuts OfGraph(Cuts cuts) const {
    return partials_ ? WithGroups(graph_, options_.mesh, std::move(cuts)) : cuts;
  }

  // Without limit and replicas.
  Plan Plain() const {
    const Plan plain = SearchUnlimited(whole_, options_, restrictions_, budget_);
    if (replicate_) return PlanFrom({OfGraph(AllCuts(plain)), 0, Proof()});
    return PlanFrom({OfGraph(AllCuts(plain)), plain.lower_bound, plain.proof});
  }

  LimitedSearch SearchFrom(const Plan& plain) const {
    LimitedSearch limited;
    limited.problem = OptionsOf(options_, restrictions_, budget_);
    limited.problem.axes.resize(options_.mesh.axes.size());
    std::iota(limited.problem.axes.begin(), limited.problem.axes.end(), 0);
    limited.problem.replicate = replicate_;
    limited.problem.cluster = false;
    limited.limit = options_.memory_limit;
    limited.table_cells = options_.table_cells;
    limited.known = {AllCuts(plain),
                     OfGraph(AllCuts(SearchRecursive(whole_, options_, {}, budget_)))};
    if (replicate_) AddOthers(true, limited);
    if (together_) AddOthers(false, limited);
    limited.last = [this] { return CutsOfBaselines(whole_, options_, false, budget_); };
    if (options_.memory_of) {
      limited.memory_of = [this](const Cuts& cuts) {
        return options_.memory_of(PlanOf(graph_, options_, {cuts, 0, Proof()}));
      };
    }
    return limited;
  }

  void AddOthers(bool replicates, LimitedSearch& limited) const {
    for (Cuts& cuts : CutsOfBaselines(whole_, options_, replicates, budget_)) {
      limited.others.push_back(OfGraph(std::move(cuts)));
    }
  }

  const Graph& graph_;
  const SearchOptions& options_;
  const Restrictions& restrictions_;
  const Budget& budget_;
  const bool replicate_, together_, partials_;
  const Graph whole_;  // without partials
};

}  // namespace

// Within a limit also without replicas: of those plans there are fewer to look through.
absl::StatusOr<Plan> SearchWithMemory(const Graph& graph, const SearchOptions& options,
                                      const Restrictions& restrictions, const Budget& budget) {
  const bool partials = HasPartials(graph);
  YUBA_CHECK(restrictions.empty() || !partials) << "pins say nothing of groups";
  absl::StatusOr<Plan> plan = Limiting(graph, options, restrictions, budget).Run(true);
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
  const Graph whole = partials ? WithoutPartials(graph) : graph;
  const absl::StatusOr<Plan> found = Limiting(whole, none, restrictions, budget).Run(false);
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
