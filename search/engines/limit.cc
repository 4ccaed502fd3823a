#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "search/baselines/baselines.h"
#include "search/engines/engine.h"
#include "search/engines/grids_within_limit.h"
#include "search/engines/levels.h"
#include "search/engines/within_limit.h"
#include "search/model/recursion.h"
#include "search/rewrite/copies.h"
#include "search/rewrite/partials.h"

namespace yuba::search {
namespace {

// Where time has run out, a gap of at most 1/20 of the bytes is not worth a search of other plans.
constexpr int64_t kNearLate = 20;
constexpr double kPlainShare = 0.3;  // of the time that is left, for the plan without the limit
constexpr double kAtOnce = 1e-6;     // seconds: no time for anything but what a search begins with

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

// The same search without limit and replicas.
SearchOptions PlainOptions(SearchOptions options) {
  options.memory_limit = 0;
  options.replicate = Replicate::kNone;
  return options;
}

// Without the restrictions that only a replicated tensor meets; empty where none is left.
Restrictions MetWithoutReplicas(const Graph& graph, const Mesh& mesh, Restrictions restrictions) {
  for (size_t t = 0; t < graph.tensors.size() && !restrictions.empty(); ++t) {
    if (restrictions[t].none()) continue;
    const ChoiceSpace space = SpaceOfTensor(graph, static_cast<TensorId>(t));
    if (!WhyUnmet(space, mesh, restrictions[t].any_of[0]).empty()) restrictions[t] = {};
  }
  const auto none = [](const Restriction& restriction) { return restriction.none(); };
  if (std::all_of(restrictions.begin(), restrictions.end(), none)) return {};
  return restrictions;
}

// The search of one graph: on choices of all axes at once, or on grids.
class LimitedGraph {
 public:
  explicit LimitedGraph(const Task& task)
      : task_(task),
        graph_(task.graph()),
        options_(task.options()),
        plain_options_(PlainOptions(options_)),
        restrictions_(task.restrictions()),
        budget_(task.budget()),
        replicate_(options_.replicate == Replicate::kAuto),
        partials_(HasPartials(graph_)),
        whole_(partials_ ? WithoutPartials(graph_) : graph_),
        met_(MetWithoutReplicas(whole_, options_.mesh, restrictions_)),
        together_(FitsInTables(graph_, options_.mesh, replicate_)) {}

  absl::StatusOr<Candidate> Run() const {
    LimitedSearch limited = LimitedFrom();
    if (options_.known_bytes == 0) {
      limited.on_grids = [this, &limited] { return OnGrids(limited); };
    }
    absl::StatusOr<Candidate> found =
        together_ ? SearchWithinLimit(graph_, limited) : SearchGridsWithinLimit(graph_, limited);
    if (budget_.end() != Budget::End::kNone) found = Cheapest(limited.known, std::move(found));
    if (!found.ok()) return found;
    const bool unproved = found->proof.kind == ProofKind::kNone;
    if (options_.known_bytes == 0 && unproved) SeekBound(limited, *found);
    return found;
  }

 private:
  Plan PlanWithin(Choices choices) const {
    return PlanOf(graph_, options_, {std::move(choices), 0, Proof()});
  }

  // Choices of the graph without partials that pass through linear nodes, for searches that do not
  // know them, as choices of this graph.
  Choices OfGraph(Choices choices) const {
    return partials_ ? WithGroups(graph_, options_.mesh, std::move(choices)) : choices;
  }

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
    if (!wanted || PlanWithin(found.choices).cost.bytes() == 0) return;
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
    if (found.ok()) least = PlanWithin(found->choices).cost.bytes();
    const auto take = [&](const Choices& choices) {
      if (!Meets(choices, restrictions_)) return;  // pins may need replicas
      const Plan plan = PlanWithin(choices);
      if (plan.cost.bytes() >= least || !Fits(graph_, options_, plan)) return;
      least = plan.cost.bytes();
      if (!found.ok()) found = Candidate();
      found->choices = choices;
    };
    for (const Choices& choices : known) take(choices);
    const bool far = !found.ok() || !IsNear(least, found->lower_bound, kNearLate);
    const Budget at_once(kAtOnce, budget_.threads());
    if (far) take(OfGraph(AllChoices(SearchRecursive(whole_, plain_options_, met_, at_once))));
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

  LimitedSearch LimitedFrom() const {
    LimitedSearch limited;
    limited.problem = AllAxesOf(options_, restrictions_, budget_);
    limited.problem.replicate = replicate_;
    limited.problem.cluster = false;
    limited.limit = options_.memory_limit;
    limited.table_cells = options_.table_cells;
    limited.table_cache = options_.table_cache.get();
    limited.explain = task_.explain;
    limited.known_bytes = options_.known_bytes;
    if (task_.plain.has_value()) limited.known.push_back(AllChoices(*task_.plain));
    limited.known.push_back(
        OfGraph(AllChoices(SearchRecursive(whole_, plain_options_, met_, budget_))));
    limited.others = [this] {
      std::vector<Choices> others = OthersOfWhole();
      for (Choices& each : others) each = OfGraph(std::move(each));
      return others;
    };
    limited.last = [&] { return BaselinesOfWhole(false); };
    if (options_.memory_of && options_.memory_limit > 0) {
      limited.memory_of = [&](const Choices& choices) {
        return options_.memory_of(graph_, PlanWithin(choices));
      };
    }
    return limited;
  }

  const Task& task_;
  const Graph& graph_;
  const SearchOptions& options_;
  const SearchOptions plain_options_;
  const Restrictions& restrictions_;
  const Budget& budget_;
  const bool replicate_, partials_;
  const Graph whole_;
  const Restrictions met_;  // the restrictions that plans without replicas meet
  const bool together_;
  mutable absl::optional<std::vector<Choices>> baselines_[2];
};

}  // namespace

void SearchPlain(Task& task, Incumbent& incumbent) {
  const bool partials = HasPartials(task.graph());
  const bool replicate = task.options().replicate == Replicate::kAuto;
  const Graph whole = partials ? WithoutPartials(task.graph()) : task.graph();
  const SearchOptions options = NamedWithin("plain", PlainOptions(task.options()));
  const Restrictions restrictions = MetWithoutReplicas(whole, options.mesh, task.restrictions());
  const Budget& all = task.budget();
  const double seconds = all.limited() ? std::max(kAtOnce, all.Left() * kPlainShare) : 0;
  const Budget share(seconds, all.threads(), options.asked);
  for (const Budget* budget : {&share, &all}) {
    Task without(whole, options, restrictions, *budget);
    const absl::StatusOr<Plan> found = RunEngines(without);
    if (!found.ok()) return;
    Choices choices = AllChoices(*found);
    if (partials) choices = WithGroups(task.graph(), task.options().mesh, std::move(choices));
    task.plain = PlanOf(task.graph(), task.options(), {choices, 0, Proof()});
    const bool counted = task.options().memory_limit == 0 || task.options().memory_of;
    if (counted) incumbent.Offer(std::move(choices));  // else only engine "limit" knows what fits
    // No limit makes plans cheaper, replicas do.
    if (!replicate) incumbent.Offer(ProvedBound(found->lower_bound, found->proof));
    task.cut_short = share.end() == Budget::End::kTime;
    // A plan that fits is the answer, for which there is all the time.
    if (!task.cut_short || replicate || !incumbent.HasPlan()) return;
    task.cut_short = false;
  }
}

void SearchLimit(Task& task, Incumbent& incumbent) {
  absl::StatusOr<Candidate> found = LimitedGraph(task).Run();
  if (found.ok()) {
    incumbent.Offer(*std::move(found));
  } else {
    incumbent.Fail(found.status());
  }
}

}  // namespace yuba::search
