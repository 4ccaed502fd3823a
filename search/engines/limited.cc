#include "search/engines/limited.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "search/baselines/baselines.h"
#include "search/engines/eliminate_all.h"
#include "search/engines/grids_within_limit.h"
#include "search/engines/unlimited.h"
#include "search/engines/within_limit.h"
#include "search/rewrite/copies.h"
#include "search/rewrite/partials.h"

namespace yuba::search {
namespace {

// Where time has run out, a gap of at most 1/20 of the bytes is not worth a search of other plans.
constexpr int64_t kNearLate = 20;
constexpr double kAtOnce = 1e-6;  // seconds: no time for anything but what a search begins with

bool Fits(const Graph& graph, const SearchOptions& options, const Plan& plan) {
  return options.memory_limit == 0 ||
         (options.memory_of && options.memory_of(graph, plan) <= options.memory_limit);
}

// The choices of all baselines that replicate, or of all that do not. Baselines know no copies.
std::vector<Choices> ChoicesOfBaselines(const Graph& graph, const SearchOptions& options,
                                        bool replicates, const Budget& budget) {
  const Uncopied bare = WithoutCopies(graph);
  std::vector<Choices> choices;
  for (const Baseline& baseline : Baselines()) {
    if (baseline.replicates != replicates || budget.ShouldStop()) continue;
    choices.push_back(ChoicesWithCopies(
        graph, bare, baseline.find(bare.graph, options.mesh, options.table_cells, budget)));
  }
  return choices;
}

// The search of one graph: on choices of all axes at once, or on grids.
class LimitedGraph {
 public:
  LimitedGraph(const Graph& graph, const SearchOptions& options, const Restrictions& restrictions,
               const Budget& budget)
      : graph_(graph),
        options_(options),
        restrictions_(restrictions),
        budget_(budget),
        replicate_(options.replicate == Replicate::kAuto),
        partials_(HasPartials(graph)),
        whole_(partials_ ? WithoutPartials(graph) : graph),
        together_(FitsInTables(graph, options.mesh, replicate_)) {}

  // `unlimited`: the plan of whole() without limit and replicas. `known_bytes` as in SearchOptions.
  // With `explain` an error says how much memory is needed.
  absl::StatusOr<Plan> Run(const Plan& unlimited, int64_t known_bytes, bool explain) const {
    const Plan plain = Plain(unlimited);
    if (!replicate_ && Fits(graph_, options_, plain)) return plain;
    if (PinsNeedTables()) return PinsRefused();
    LimitedSearch limited = LimitedFrom(plain);
    limited.explain = explain;
    limited.known_bytes = known_bytes;
    if (known_bytes == 0 && restrictions_.empty()) {
      limited.on_grids = [this, &limited] { return OnGrids(limited); };
    }
    absl::StatusOr<Candidate> found =
        together_ ? SearchWithinLimit(graph_, limited) : SearchGridsWithinLimit(graph_, limited);
    if (budget_.end() != Budget::End::kNone) found = Cheapest(limited.known, std::move(found));
    if (!found.ok()) return found.status();
    if (known_bytes == 0 && found->proof.kind == ProofKind::kNone) SeekBound(limited, *found);
    Plan plan =
        PlanWithin({std::move(found->choices), found->lower_bound, std::move(found->proof)});
    // No limit makes plans cheaper: the bound without one holds too.
    if (!replicate_ && plain.lower_bound > plan.lower_bound) {
      plan.lower_bound = plain.lower_bound;
      plan.proof = plain.proof;
    }
    return plan;
  }

  // An error where replicas are allowed and the pins need tables that are too large.
  absl::Status CheckPins() const {
    return replicate_ && PinsNeedTables() ? PinsRefused() : absl::OkStatus();
  }

  Plan PlanWithin(Candidate found) const {
    Plan plan = PlanOf(graph_, options_, std::move(found));
    plan.space.replicate = options_.replicate;
    plan.space.memory = options_.memory_limit;
    return plan;
  }

  // The graph without partials that pass through linear nodes, for searches that do not know them,
  // and its choices as choices of this graph.
  const Graph& whole() const { return whole_; }
  Choices OfGraph(Choices choices) const {
    return partials_ ? WithGroups(graph_, options_.mesh, std::move(choices)) : choices;
  }

 private:
  // On grids no plans with groups of partials are found: they are searched without, and then get a
  // bound that holds for plans with groups too.
  absl::StatusOr<Candidate> OnGrids(const LimitedSearch& limited) const {
    if (!partials_) return SearchGridsWithinLimit(graph_, limited);
    LimitedSearch whole = limited;
    whole.known.clear();
    whole.others = [this] { return OthersOfWhole(); };
    whole.on_grids = nullptr;
    if (limited.memory_of) {
      whole.memory_of = [&](const Choices& choices) { return limited.memory_of(OfGraph(choices)); };
    }
    absl::StatusOr<Candidate> found = SearchGridsWithinLimit(whole_, whole);
    if (!found.ok()) return found.status();
    found->choices = OfGraph(std::move(found->choices));
    BoundOnGrids(graph_, limited, *found);
    return found;
  }

  // For a search that ended without a bound: the bound of grids, for which there is a little
  // overtime.
  void SeekBound(const LimitedSearch& limited, Candidate& found) const {
    const bool stopped = budget_.end() != Budget::End::kNone;
    const bool wanted = stopped || (together_ && limited.table_cells > 0);
    if (!wanted || PlanWithin({found.choices, 0, Proof()}).cost.bytes() == 0) return;
    const Budget overtime = budget_.Overtime();
    LimitedSearch late = limited;
    if (stopped) late.problem.budget = &overtime;
    BoundOnGrids(graph_, late, found);
  }

  // For where time ran out: the cheapest plan that fits, of what was found, of `known`, of the
  // recursion and of the baselines. Without it a longer search could end with a dearer plan.
  absl::StatusOr<Candidate> Cheapest(const std::vector<Choices>& known,
                                     absl::StatusOr<Candidate> found) const {
    int64_t least = kForbidden;
    if (found.ok()) least = PlanWithin({found->choices, 0, Proof()}).cost.bytes();
    const auto take = [&](const Choices& choices) {
      if (!Meets(choices, restrictions_)) return;  // pins may need replicas
      const Plan plan = PlanWithin({choices, 0, Proof()});
      if (plan.cost.bytes() >= least || !Fits(graph_, options_, plan)) return;
      least = plan.cost.bytes();
      if (!found.ok()) found = Candidate();
      found->choices = choices;
    };
    for (const Choices& choices : known) take(choices);
    const bool far = !found.ok() || !IsNear(least, found->lower_bound, kNearLate);
    const Budget at_once(kAtOnce, budget_.threads());
    if (far) take(OfGraph(AllChoices(SearchRecursive(whole_, options_, {}, at_once))));
    const Budget overtime = budget_.Overtime();
    for (const bool replicates : {true, false}) {
      if (replicates ? !replicate_ : !far) continue;
      for (Choices& each : ChoicesOfBaselines(whole_, options_, replicates, overtime)) {
        take(OfGraph(std::move(each)));
      }
    }
    return found;
  }

  // Searched for at the first call.
  const std::vector<Choices>& BaselinesOfWhole(bool replicates) const {
    absl::optional<std::vector<Choices>>& found = baselines_[replicates];
    if (!found.has_value()) found = ChoicesOfBaselines(whole_, options_, replicates, budget_);
    return *found;
  }

  // Choices of the baselines that may be cheaper than what is known. Without a limit those without
  // replicas never are.
  std::vector<Choices> OthersOfWhole() const {
    std::vector<Choices> others;
    if (replicate_) others = BaselinesOfWhole(true);
    if (together_ && options_.memory_limit > 0) {
      const std::vector<Choices>& more = BaselinesOfWhole(false);
      others.insert(others.end(), more.begin(), more.end());
    }
    return others;
  }

  bool PinsNeedTables() const { return !restrictions_.empty() && !together_; }
  absl::Status PinsRefused() const {
    return UserError("on ", options_.mesh.devices(), " devices the tables of this graph are too ",
                     "large for pins together with --memory or --replicate auto: leave one of ",
                     "them out, or use fewer devices");
  }

  // The unlimited plan as one of this graph, with its bound where that bounds this search's plans
  // too: not those with replicas.
  Plan Plain(const Plan& unlimited) const {
    Choices choices = OfGraph(AllChoices(unlimited));
    if (replicate_) return PlanWithin({std::move(choices), 0, Proof()});
    return PlanWithin({std::move(choices), unlimited.lower_bound, unlimited.proof});
  }

  LimitedSearch LimitedFrom(const Plan& plain) const {
    LimitedSearch limited;
    limited.problem = AllAxesOf(options_, restrictions_, budget_);
    limited.problem.replicate = replicate_;
    limited.problem.cluster = false;
    limited.limit = options_.memory_limit;
    limited.table_cells = options_.table_cells;
    limited.table_cache = options_.table_cache.get();
    limited.known = {AllChoices(plain),
                     OfGraph(AllChoices(SearchRecursive(whole_, options_, {}, budget_)))};
    limited.others = [this] {
      std::vector<Choices> others = OthersOfWhole();
      for (Choices& each : others) each = OfGraph(std::move(each));
      return others;
    };
    limited.last = [&] { return BaselinesOfWhole(false); };
    if (options_.memory_of && options_.memory_limit > 0) {
      limited.memory_of = [&](const Choices& choices) {
        return options_.memory_of(graph_, PlanWithin({choices, 0, Proof()}));
      };
    }
    return limited;
  }

  const Graph& graph_;
  const SearchOptions& options_;
  const Restrictions& restrictions_;
  const Budget& budget_;
  const bool replicate_, partials_;
  const Graph whole_;
  const bool together_;
  mutable absl::optional<std::vector<Choices>> baselines_[2];
};

}  // namespace

absl::StatusOr<Plan> SearchWithMemory(const Graph& graph, const SearchOptions& options,
                                      const Restrictions& restrictions, const Budget& budget) {
  YUBA_CHECK(restrictions.empty() || !HasPartials(graph)) << "pins say nothing of groups";
  const LimitedGraph limited(graph, options, restrictions, budget);
  YUBA_RETURN_IF_ERROR(limited.CheckPins());
  return limited.Run(SearchUnlimited(limited.whole(), options, restrictions, budget),
                     options.known_bytes, options.known_bytes == 0);
}

absl::StatusOr<Plan> SearchForBound(const Graph& graph, const SearchOptions& options,
                                    const Budget& budget) {
  const Restrictions none;
  const LimitedGraph all(graph, options, none, budget);
  return all.Run(SearchUnlimited(all.whole(), options, none, budget), 0, false);
}

}  // namespace yuba::search
