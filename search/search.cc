#include "search/search.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "opsemantics/mesh_text.h"
#include "search/accumulators.h"
#include "search/baselines/baselines.h"
#include "search/copies.h"
#include "search/eliminate.h"
#include "search/grid_search.h"
#include "search/levels.h"
#include "search/partials.h"
#include "search/pin_text.h"
#include "search/problem.h"
#include "search/together.h"
#include "search/within_limit.h"

namespace yuba {
namespace {

// Where the cost tables of all axes have more cells, grids are searched first; with pins, fewer
// axes are placed at a time.
constexpr int64_t kMostCells = int64_t{1} << 22;

bool NestsByLevel(const SearchOptions& options) {
  return options.nesting == Nesting::kLevel || options.search == "recursive";
}

// Of the tensors, then of the nodes.
Cuts AllCuts(const Plan& plan) {
  Cuts cuts = plan.tensors;
  cuts.insert(cuts.end(), plan.nodes.begin(), plan.nodes.end());
  return cuts;
}

Plan PlanOf(const Graph& graph, const SearchOptions& options, Found found) {
  Plan plan;
  plan.mesh = options.mesh;
  plan.space.nesting = NestsByLevel(options) ? "level" : "free";
  plan.space.copies = graph.copies;
  plan.space.factors = options.factors;
  plan.search = options.search;
  auto middle = found.cuts.begin() + graph.tensors.size();
  plan.tensors.assign(found.cuts.begin(), middle);
  plan.nodes.assign(middle, found.cuts.end());
  plan.cost = CostOf(graph, plan);
  plan.proof = std::move(found.proof);
  plan.lower_bound = found.lower_bound;
  return plan;
}

Plan SearchDefault(const Graph& graph, const SearchOptions& options,
                   const Restrictions& restrictions, const Budget& budget) {
  const Groups levels = GroupsOf(options.mesh, 1),
               widest = WidestGroups(graph, options.mesh, kMostCells);
  if (widest.size() == 1)
    return PlanOf(graph, options, SearchTogether(graph, options, restrictions, budget));
  const ProblemOptions base = OptionsOf(options, restrictions, budget);
  if (restrictions.empty()) {
    Cuts start;
    const auto by_level = [&] {
      return start = SearchGroups(graph, base, levels, options.table_cells).cuts;
    };
    Plan plan =
        PlanOf(graph, options, FoundOnGrids(SearchOnGrids(graph, options, budget, by_level)));
    if (start.empty()) return plan;
    Plan other = PlanOf(graph, options, {std::move(start), plan.lower_bound, plan.proof});
    return other.cost.bytes() < plan.cost.bytes() ? other : plan;
  }
  // Groups whose axes go anywhere have far more cuts.
  const Groups& first = NestByLevel(restrictions) ? widest : levels;
  Plan plan = PlanOf(graph, options, SearchGroups(graph, base, first, options.table_cells));
  if (first.size() == levels.size() && !budget.Spent()) return plan;
  Plan by_level = PlanOf(graph, options,
                         budget.Spent() ? SearchLate(graph, options, restrictions, budget)
                                        : SearchGroups(graph, base, levels, options.table_cells));
  return by_level.cost.bytes() < plan.cost.bytes() ? by_level : plan;
}

Plan SearchRecursive(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget) {
  Found found = SearchGroups(graph, OptionsOf(options, restrictions, budget),
                             GroupsOf(options.mesh, 1), options.table_cells);
  if (!restrictions.empty()) {
    found.proof = Proof();
    found.lower_bound = 0;
  }
  Plan plan = PlanOf(graph, options, std::move(found));
  if (budget.end() == Budget::End::kNone || !restrictions.empty()) return plan;
  // Levels that had no time have any cuts: what follows its neighbours is mostly better.
  SearchOptions by_level = options;
  by_level.nesting = Nesting::kLevel;
  Plan late = PlanOf(graph, options, FoundOnGrids(SearchOnGrids(graph, by_level, budget)));
  return late.cost.bytes() < plan.cost.bytes() ? late : plan;
}

Plan PlanOfBaseline(const Graph& graph, const SearchOptions& options, const Baseline& baseline,
                    const Budget& budget) {
  Found found;
  found.cuts = baseline.find(graph, options.mesh, options.table_cells, budget);
  Plan plan = PlanOf(graph, options, std::move(found));
  plan.space.nesting = "level";
  plan.space.replicate = baseline.replicates ? "auto" : "none";
  return plan;
}

// Whether nothing is left to choose.
bool Decided(const Restrictions& restrictions) {
  return !restrictions.empty() &&
         std::all_of(restrictions.begin(), restrictions.end(), [](const Restriction& restriction) {
           return !restriction.none() &&
                  std::none_of(restriction.any_of[0].begin(), restriction.any_of[0].end(),
                               [](const Demand& demand) { return demand.others; });
         });
}

Plan SearchWithin(const Graph& graph, const SearchOptions& options,
                  const Restrictions& restrictions, const Budget& budget) {
  return options.search == "recursive" ? SearchRecursive(graph, options, restrictions, budget)
                                       : SearchDefault(graph, options, restrictions, budget);
}

bool Fits(const SearchOptions& options, const Plan& plan) {
  return options.memory_limit == 0 ||
         (options.memory_of && options.memory_of(plan) <= options.memory_limit);
}

// What the baselines of that space choose; they know no copies.
std::vector<Cuts> CutsOfBaselines(const Graph& graph, const SearchOptions& options,
                                  const Budget& budget) {
  const Uncopied bare = WithoutCopies(graph);
  std::vector<Cuts> cuts;
  for (const Baseline& baseline : Baselines()) {
    if ((baseline.replicates && options.replicate != "auto") || budget.Spent()) continue;
    cuts.push_back(CutsWithCopies(
        graph, bare, baseline.find(bare.graph, options.mesh, options.table_cells, budget)));
  }
  return cuts;
}

// Where the tables of all axes are too large: the cheapest of `plain`, the recursion and the
// baselines that is within the limit, with the bound of `plain`.
absl::StatusOr<Plan> CheapestKnown(const Graph& graph, const SearchOptions& options,
                                   const Plan& plain, const Budget& budget) {
  absl::optional<Plan> best;
  const auto consider = [&](Plan plan) {
    plan.space.replicate = plain.space.replicate;
    plan.space.memory = plain.space.memory;
    plan.lower_bound = plain.lower_bound;
    plan.proof = plain.proof;
    const bool fewer = !best.has_value() || plan.cost.bytes() < best->cost.bytes();
    if (fewer && Fits(options, plan)) best = std::move(plan);
  };
  consider(plain);
  if (!budget.Spent()) consider(SearchRecursive(graph, options, {}, budget));
  for (Cuts& cuts : CutsOfBaselines(graph, options, budget)) {
    consider(PlanOf(graph, options, {std::move(cuts), 0, Proof()}));
  }
  if (best.has_value()) return *std::move(best);
  if (budget.end() == Budget::End::kAsked) {
    return absl::CancelledError("interrupted before a plan within --memory was found");
  }
  if (budget.end() != Budget::End::kNone) {
    return absl::DeadlineExceededError(
        "no plan within --memory was found in time: allow more with --time-limit or --memory");
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "no plan within --memory ", options.memory_limit, " was found: on ", options.mesh.devices(),
      " devices the tables of this graph are too large for more than the plans without a limit, ",
      "and none of them fits; use fewer devices or more memory"));
}

// With a limit on memory, or with replicas: all axes at once, or what is known. With `explain` an
// error says how much is needed.
absl::StatusOr<Plan> SearchLimited(const Graph& graph, const SearchOptions& options, bool explain,
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
  Plan plain = SearchWithin(whole, options, {}, budget);
  plain = limited_plan(
      PlanOf(graph, options, {of_graph(AllCuts(plain)), plain.lower_bound, plain.proof}));
  if (replicate) {  // its bound is of plans without replicas
    plain.lower_bound = 0;
    plain.proof = Proof();
  }
  const bool fits = Fits(options, plain);
  if (fits && !replicate) return plain;
  if (WidestGroups(graph, options.mesh, kMostCells).size() > 1) {
    return CheapestKnown(graph, options, plain, budget);
  }
  LimitedSearch limited;
  limited.explain = explain;
  limited.problem = OptionsOf(options, {}, budget);
  limited.problem.axes.resize(options.mesh.axes.size());
  std::iota(limited.problem.axes.begin(), limited.problem.axes.end(), 0);
  limited.problem.replicate = replicate;
  limited.problem.cluster = false;
  limited.limit = options.memory_limit;
  limited.table_cells = options.table_cells;
  limited.known = {AllCuts(plain), of_graph(AllCuts(SearchRecursive(whole, options, {}, budget)))};
  for (Cuts& cuts : CutsOfBaselines(whole, options, budget)) {
    limited.others.push_back(of_graph(std::move(cuts)));
  }
  if (options.memory_of) {
    limited.memory_of = [&](const Cuts& cuts) {
      return options.memory_of(PlanOf(graph, options, {cuts, 0, Proof()}));
    };
  }
  absl::StatusOr<LimitedCuts> found = SearchWithinLimit(graph, limited);
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

// The same; within a limit also without replicas: of those plans there are fewer to look through.
absl::StatusOr<Plan> SearchBothWays(const Graph& graph, const SearchOptions& options,
                                    const Budget& budget) {
  absl::StatusOr<Plan> plan = SearchLimited(graph, options, true, budget);
  const bool best = plan.ok() && plan->cost.bytes() == plan->lower_bound;
  if (options.replicate != "auto" || options.memory_limit == 0 || best || budget.Spent() ||
      WidestGroups(graph, options.mesh, kMostCells).size() > 1) {
    return plan;
  }
  const bool partials = HasPartials(graph);
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
      SearchLimited(partials ? WithoutPartials(graph) : graph, none, false, budget);
  if (!found.ok()) return plan;
  Plan other = of_graph(*found);
  if (!plan.ok()) return other;
  if (other.cost.bytes() >= plan->cost.bytes()) return plan;
  other.lower_bound = plan->lower_bound;
  other.proof = plan->proof;
  return other;
}

absl::Status CheckOptions(const Graph& graph, const SearchOptions& options) {
  if (HasPartials(graph) && (options.replicate != "auto" || options.search != "default")) {
    return UserError("sums stay apart only with --replicate auto and the default search");
  }
  if (options.search == "default" || options.search == "recursive") return absl::OkStatus();
  if (FindBaseline(options.search) == nullptr) {
    return UserError("there is no search named \"", options.search, "\"; there are ",
                     absl::StrJoin(SearchNames(), ", "));
  }
  if (graph.copies > 0) {
    return UserError("--search ", options.search, " knows no shared copies: leave --copies out");
  }
  if (HasAccumulators(graph)) {
    return UserError("--search ", options.search,
                     " knows no accumulators: leave --accumulators out");
  }
  if (options.pins.empty() && options.pin_texts.empty()) return absl::OkStatus();
  return UserError("--search ", options.search,
                   " does as its authors say and takes no pins; use default ", "or recursive");
}

absl::StatusOr<std::vector<Pin>> AllPins(const Graph& graph, const SearchOptions& options) {
  std::vector<Pin> pins = options.pins;
  for (const std::string& text : options.pin_texts) {
    YUBA_ASSIGN_OR_RETURN(const std::vector<Pin> more, ParsePin(graph, options.mesh, text));
    pins.insert(pins.end(), more.begin(), more.end());
  }
  return pins;
}

std::string NameOf(const Graph& graph, const Pin& pin) {
  const std::string name = pin.is_node ? absl::StrCat("node ", graph.nodes[pin.id].name)
                                       : absl::StrCat("tensor ", graph.tensors[pin.id].name);
  return pin.text.empty() ? name : absl::StrCat(name, " (", pin.text, ")");
}

// Whether a search in which axes nest by level can follow the pins.
absl::Status CheckNesting(const Graph& graph, const SearchOptions& options,
                          const std::vector<Pin>& pins) {
  if (!NestsByLevel(options)) return absl::OkStatus();
  for (const Pin& pin : pins) {
    if (NestByLevel(pin.demands)) continue;
    return UserError("the pin of ", NameOf(graph, pin),
                     " nests axes in an order that is not the mesh's (",
                     MeshText(options.mesh), "), and here they nest in that order: write it so, ",
                     "or leave --search recursive or --space tofu out");
  }
  return absl::OkStatus();
}

// Whether the plan has what the pins demand.
absl::Status CheckPins(const Graph& graph, const std::vector<Pin>& pins, const Plan& plan) {
  for (const Pin& pin : pins) {
    if (Meets(pin.is_node ? plan.nodes[pin.id] : plan.tensors[pin.id], pin.demands)) continue;
    return UserError("no plan was found that has what the pin of ", NameOf(graph, pin),
                     " demands: demand less, or use fewer devices");
  }
  return absl::OkStatus();
}

absl::StatusOr<Plan> SearchAsAsked(const Graph& graph, const SearchOptions& options,
                                   const Budget& budget) {
  if (const Baseline* baseline = FindBaseline(options.search)) {
    return PlanOfBaseline(graph, options, *baseline, budget);
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<Pin> pins, AllPins(graph, options));
  YUBA_ASSIGN_OR_RETURN(const Restrictions restrictions, RestrictionsOf(graph, options.mesh, pins));
  YUBA_RETURN_IF_ERROR(CheckNesting(graph, options, pins));
  if (options.memory_limit > 0 || options.replicate == "auto") {
    if (restrictions.empty() && options.search == "default") {
      return SearchBothWays(graph, options, budget);
    }
    return UserError("--memory and --replicate auto are for --search default without pins");
  }
  Plan plan = SearchWithin(graph, options, restrictions, budget);
  YUBA_RETURN_IF_ERROR(CheckPins(graph, pins, plan));
  if (restrictions.empty() || options.search == "recursive") return plan;
  plan.proof = Proof();
  plan.lower_bound = 0;
  if (Decided(restrictions) || budget.Spent()) return plan;
  // The bound is of all plans, pinned or not: the gap is what the pins cost.
  Plan unpinned = SearchDefault(graph, options, {}, budget);
  plan.lower_bound = unpinned.lower_bound;
  plan.proof = std::move(unpinned.proof);
  return plan;
}

// Whether all axes at once, and exactly, without replicas.
bool CanBeEliminated(const Graph& graph, const SearchOptions& options) {
  if (WidestGroups(graph, options.mesh, kMostCells).size() > 1) return false;
  ProblemOptions together = OptionsOf(options, {}, Budget::Unlimited());
  together.axes.resize(options.mesh.axes.size());
  std::iota(together.axes.begin(), together.axes.end(), 0);
  const Problem problem = BuildProblem(graph, together);
  return GreedyOrder(problem.pairwise, options.table_cells, Budget::Unlimited()).has_value();
}

}  // namespace

std::vector<std::string> SearchNames() {
  std::vector<std::string> names = {"default", "recursive"};
  for (const Baseline& baseline : Baselines()) names.push_back(baseline.name);
  return names;
}

Graph SharedGraph(const Graph& bare, const SearchOptions& options) {
  const bool automatic = options.accumulators == "auto";
  const bool none = options.accumulators == "none" || (automatic && options.copies == 0);
  Graph graph = WithCopies(bare, options.copies);
  if (!none) {
    Graph accumulating = WithAccumulators(graph, options.mesh);
    const bool take =
        !automatic || !HasAccumulators(accumulating) || CanBeEliminated(accumulating, options);
    if (take) graph = std::move(accumulating);
  }
  if (options.replicate != "auto" || options.search != "default") return graph;
  Graph apart = WithPartials(graph, options.mesh);
  const bool fits = WidestGroups(apart, options.mesh, kMostCells).size() == 1;
  return fits ? apart : graph;
}

absl::StatusOr<Plan> Search(const Graph& graph, const SearchOptions& options) {
  YUBA_RETURN_IF_ERROR(CheckOptions(graph, options));
  if (options.asked && options.asked()) {
    return absl::CancelledError("interrupted before there was a plan");
  }
  const Budget budget(options.time_limit, options.threads, options.asked);
  YUBA_ASSIGN_OR_RETURN(Plan plan, SearchAsAsked(graph, options, budget));
  if (budget.end() == Budget::End::kTime) plan.stopped = kTimeLimit;
  if (budget.end() == Budget::End::kAsked) plan.stopped = kInterrupt;
  return plan;
}

absl::StatusOr<std::vector<PinPrice>> PricesOfPins(const Graph& graph, const SearchOptions& options,
                                                   const Plan& plan) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<Pin> pins, AllPins(graph, options));
  const Budget budget(options.time_limit, options.threads, options.asked);
  std::vector<PinPrice> prices;
  for (const Pin& pin : pins) {
    const bool known = std::any_of(prices.begin(), prices.end(),
                                   [&](const PinPrice& price) { return price.text == pin.text; });
    if (known) continue;
    std::vector<Pin> others;
    for (const Pin& other : pins) {
      if (other.text != pin.text) others.push_back(other);
    }
    YUBA_ASSIGN_OR_RETURN(const Restrictions restrictions,
                          RestrictionsOf(graph, options.mesh, others));
    const Plan without = SearchWithin(graph, options, restrictions, budget);
    if (budget.end() != Budget::End::kNone) break;
    prices.push_back({pin.text, plan.cost.bytes() - without.cost.bytes()});
  }
  return prices;
}

}  // namespace yuba
