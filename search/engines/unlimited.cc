#include "search/engines/unlimited.h"

#include <functional>
#include <utility>

#include "absl/types/optional.h"
#include "search/engines/eliminate_all.h"
#include "search/engines/grid_search.h"
#include "search/engines/prune.h"
#include "search/model/grid_bound.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/copies.h"
#include "search/rewrite/partials.h"
#include "search/solve/eliminate.h"

namespace yuba::search {
namespace {

// Where the cost tables of all axes have more cells, grids are searched first; with pins, fewer
// axes are placed at a time.
constexpr int64_t kMostCells = int64_t{1} << 22;
// With replicas tables are about twice as large, and grids know less of them.
constexpr int64_t kMostCellsOfReplicas = int64_t{1} << 23;
// But tables of up to so many cells are made where their elimination takes at most kSoonSums, about
// two seconds.
constexpr int64_t kEliminatedCells = int64_t{1} << 26;
constexpr int64_t kSoonSums = int64_t{1} << 31;

// The plan without copies, as a plan of `graph`: each copy has the sharding of its tensor.
Choices ChoicesWithoutCopies(const Graph& graph, const SearchOptions& options,
                             const Budget& budget) {
  const Uncopied bare = WithoutCopies(graph);
  return ChoicesWithCopies(graph, bare, AllChoices(SearchDefault(bare.graph, options, {}, budget)));
}

// Searches grids; where other searches find a cheaper plan, goes on from that. At last drops grids.
Plan SearchGridsFirst(const Graph& graph, const SearchOptions& options, const Budget& budget) {
  absl::optional<Plan> by_level, start;
  const auto find_by_level = [&] {
    by_level = PlanOf(graph, options,
                      {SearchGroups(graph, OptionsOf(options, {}, budget),
                                    GroupsOf(options.mesh, 1), options.table_cells)
                           .choices,
                       0, Proof()});
  };
  if (budget.limited()) find_by_level();  // while there is time
  const auto known = [&] {
    if (!by_level.has_value()) find_by_level();
    start = by_level;
    if (graph.copies > 0 && !budget.ShouldStop()) {
      Plan other =
          PlanOf(graph, options, {ChoicesWithoutCopies(graph, options, budget), 0, Proof()});
      if (other.cost.bytes() < start->cost.bytes()) start = std::move(other);
    }
    return AllChoices(*start);
  };
  Plan plan =
      PlanOf(graph, options, CandidateOfGrids(SearchOnGrids(graph, options, budget, known)));
  if (budget.end() != Budget::End::kNone && !start.has_value()) start = std::move(by_level);
  if (start.has_value() && start->cost.bytes() < plan.cost.bytes()) {
    start->lower_bound = plan.lower_bound;
    start->proof = std::move(plan.proof);
    plan = *std::move(start);
  }
  const int64_t cost = plan.cost.bytes();
  return PlanOf(
      graph, options,
      SearchGridsBelow(graph, options, budget,
                       {AllChoices(plan), plan.lower_bound, std::move(plan.proof)}, cost));
}

}  // namespace

bool NestsByLevel(const SearchOptions& options) {
  return options.nesting == Nesting::kLevel || options.search == "recursive";
}

bool FitsInTables(const Graph& graph, const Mesh& mesh, bool replicate) {
  const int axes = static_cast<int>(mesh.axes.size());
  const int64_t most = replicate ? kMostCellsOfReplicas : kMostCells;
  return axes <= 1 || TableCells(graph, axes, replicate) <= most;
}

bool IsSoonEliminated(const Graph& graph, const SearchOptions& options,
                      const Restrictions& restrictions, const Budget& budget) {
  const int axes = static_cast<int>(options.mesh.axes.size());
  if (TableCells(graph, axes) > kEliminatedCells) return false;
  ProblemOptions scopes = AllAxesOf(options, restrictions, budget);
  scopes.tables = false;
  const Problem problem = BuildProblem(graph, scopes);
  const auto order = GreedyOrder(problem.pairwise, options.table_cells, budget);
  return order.has_value() && order->sums <= kSoonSums;
}

Choices AllChoices(const Plan& plan) {
  Choices choices = plan.tensors;
  choices.insert(choices.end(), plan.nodes.begin(), plan.nodes.end());
  return choices;
}

Plan PlanOf(const Graph& graph, const SearchOptions& options, Candidate found) {
  Plan plan;
  plan.mesh = options.mesh;
  plan.space.nesting = NestsByLevel(options) ? Nesting::kLevel : Nesting::kFree;
  plan.space.copies = graph.copies;
  plan.space.accumulators = HasAccumulators(graph);
  plan.space.partials = HasPartials(graph);
  plan.space.factors = options.factors;
  plan.search = options.search;
  auto middle = found.choices.begin() + graph.tensors.size();
  plan.tensors.assign(found.choices.begin(), middle);
  plan.nodes.assign(middle, found.choices.end());
  plan.cost = CostOf(graph, plan);
  plan.proof = std::move(found.proof);
  plan.lower_bound = found.lower_bound;
  return plan;
}

Plan SearchDefault(const Graph& graph, const SearchOptions& options,
                   const Restrictions& restrictions, const Budget& budget) {
  const Groups levels = GroupsOf(options.mesh, 1),
               widest = WidestGroups(graph, options.mesh, kMostCells);
  if (widest.size() == 1 || IsSoonEliminated(graph, options, restrictions, budget)) {
    std::function<Choices()> uncopied;
    if (graph.copies > 0) uncopied = [&] { return ChoicesWithoutCopies(graph, options, budget); };
    return PlanOf(graph, options, SearchTogether(graph, options, restrictions, budget, uncopied));
  }
  if (restrictions.empty()) return SearchGridsFirst(graph, options, budget);
  const ProblemOptions base = OptionsOf(options, restrictions, budget);
  // Pins that do not nest by level let later axes go outside earlier ones: far more choices.
  const Groups& first = NestByLevel(restrictions) ? widest : levels;
  Plan plan = PlanOf(graph, options, SearchGroups(graph, base, first, options.table_cells));
  if (first.size() == levels.size() && !budget.ShouldStop()) return plan;
  Plan by_level =
      PlanOf(graph, options,
             budget.ShouldStop() ? SearchLate(graph, options, restrictions, budget)
                                 : SearchGroups(graph, base, levels, options.table_cells));
  return by_level.cost.bytes() < plan.cost.bytes() ? by_level : plan;
}

Plan SearchRecursive(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget) {
  Candidate found = SearchGroups(graph, OptionsOf(options, restrictions, budget),
                                 GroupsOf(options.mesh, 1), options.table_cells);
  if (!restrictions.empty()) {
    found.proof = Proof();
    found.lower_bound = 0;
  }
  Plan plan = PlanOf(graph, options, std::move(found));
  if (budget.end() == Budget::End::kNone || !restrictions.empty()) return plan;
  // Levels for which there was no time took their first choices. Axes that follow their neighbours
  // are mostly better.
  SearchOptions by_level = options;
  by_level.nesting = Nesting::kLevel;
  Plan late = PlanOf(graph, options, CandidateOfGrids(SearchOnGrids(graph, by_level, budget)));
  return late.cost.bytes() < plan.cost.bytes() ? late : plan;
}

Plan SearchUnlimited(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget) {
  if (options.search == "recursive") return SearchRecursive(graph, options, restrictions, budget);
  Plan plan = SearchDefault(graph, options, restrictions, budget);
  const bool stopped = budget.end() != Budget::End::kNone;
  const bool bounds_all = restrictions.empty() && options.replicate != Replicate::kAuto;
  if (!stopped || plan.proof.kind != ProofKind::kNone || !bounds_all) return plan;
  const Budget overtime = budget.Overtime();
  LowerBound bound = DualBound(graph, options.mesh, TensorUsesOf(graph, options.mesh), overtime);
  plan.lower_bound = bound.bytes;
  if (bound.bytes > 0) plan.proof = std::move(bound.proof);
  return plan;
}

}  // namespace yuba::search
