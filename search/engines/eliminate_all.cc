#include "search/engines/eliminate_all.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "search/model/grid_classes.h"
#include "search/rewrite/canonical.h"
#include "search/solve/anchored_dual.h"
#include "search/solve/eliminate.h"
#include "search/solve/parallel.h"
#include "search/solve/raise_threshold.h"
#include "search/solve/solve.h"

namespace yuba::search {
namespace {

// An elimination of more sums takes seconds and has nothing before its end: grids are searched
// first, for the case that time runs out.
constexpr int64_t kLongElimination = int64_t{1} << 31;

// The largest table of the recursion that makes a start for the local search.
constexpr int64_t kStartCells = int64_t{1} << 20;

// Pruned elimination, where tables of choices do not fit but those of their grids do.
absl::optional<RaisedThreshold> SolvePruned(const Problem& problem, const Solution& start,
                                            const Mesh& mesh, int64_t table_cells,
                                            const Budget& budget) {
  RaiseThresholdOptions threshold_options;
  threshold_options.fold_cells = std::min(threshold_options.fold_cells, table_cells);
  threshold_options.class_cells = std::min(threshold_options.class_cells, table_cells);
  return RaiseThreshold(problem.pairwise, GridsOf(problem, mesh), start, threshold_options, budget);
}

// The choices by element that the anchored dual prefers; empty where it has none. Messages go
// between single tensors and nodes: with clusters plans come out 1 to 2 % dearer.
Choices PreferredChoices(const Graph& graph, ProblemOptions options) {
  options.cluster = false;
  const Problem problem = BuildProblem(graph, options);
  if (!problem.complete) return {};
  std::vector<int> order(problem.elements.size());  // by place in a program
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return ProgramPosition(graph, problem.elements[a]) <
           ProgramPosition(graph, problem.elements[b]);
  });
  const absl::optional<Assignment> preferred =
      PreferredByAnchoredDual(problem.pairwise, order, *options.budget);
  return preferred.has_value() ? problem.ChoicesOf(*preferred) : Choices();
}

// Starts of the local search, where nothing exact can be had: what grids find (also to *on_grids,
// with their bound), and what the recursion finds, one axis at a time.
std::vector<Assignment> Starts(const Graph& graph, const SearchOptions& options,
                               const ProblemOptions& base, const Problem& problem,
                               GridSolution* on_grids) {
  std::vector<Assignment> starts(2);
  ParallelFor(base.budget->threads(), static_cast<int64_t>(starts.size()), [&](int64_t which) {
    if (which == 0) {
      *on_grids = SearchOnGrids(graph, options, *base.budget);
      starts[which] = problem.ValuesOf(on_grids->choices);
    } else {
      starts[which] = problem.ValuesOf(SearchGroups(graph, base, GroupsOf(base.mesh, 1),
                                                    std::min(options.table_cells, kStartCells))
                                           .choices);
    }
  });
  return starts;
}

}  // namespace

ProblemOptions OptionsOf(const SearchOptions& options, const Restrictions& restrictions,
                         const Budget& budget) {
  ProblemOptions result;
  result.budget = &budget;
  result.mesh = options.mesh;
  result.nesting = options.nesting;
  result.restrictions = restrictions;
  return result;
}

ProblemOptions AllAxesOf(const SearchOptions& options, const Restrictions& restrictions,
                         const Budget& budget) {
  ProblemOptions result = OptionsOf(options, restrictions, budget);
  result.axes.resize(options.mesh.axes.size());
  std::iota(result.axes.begin(), result.axes.end(), 0);
  return result;
}

Candidate CandidateOfGrids(GridSolution found) {
  return {std::move(found.choices), found.bound.bytes, std::move(found.bound.proof)};
}

Candidate SearchLate(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget) {
  const Budget overtime = budget.Overtime();
  Candidate found = SearchGroups(graph, OptionsOf(options, restrictions, overtime),
                                 GroupsOf(options.mesh, 1), options.table_cells);
  found.proof = Proof();
  found.lower_bound = 0;
  if (overtime.end() == Budget::End::kNone || !restrictions.empty()) return found;
  return CandidateOfGrids(SearchOnGrids(graph, options, overtime));
}

Candidate SearchTogether(const Graph& graph, const SearchOptions& options,
                         const Restrictions& restrictions, const Budget& budget,
                         const std::function<Choices()>& start) {
  const int64_t table_cells = options.table_cells;
  const ProblemOptions base = OptionsOf(options, restrictions, budget);
  const Problem problem = BuildProblem(graph, AllAxesOf(options, restrictions, budget));
  if (!problem.complete) return SearchLate(graph, options, restrictions, budget);
  Candidate found;
  if (const auto order = GreedyOrder(problem.pairwise, table_cells, budget)) {
    absl::optional<GridSolution> on_grids;
    if (order->sums > kLongElimination && restrictions.empty()) {
      on_grids = SearchOnGrids(graph, options, budget);
    }
    if (const auto exact = Eliminate(problem.pairwise, order->variables, budget)) {
      found.choices = problem.ChoicesOf(exact->assignment);
      found.proof.kind = ProofKind::kElimination;
      found.proof.order = problem.ElementOrder(order->variables);
      found.lower_bound = exact->cost;
      return found;
    }
    if (on_grids.has_value()) return CandidateOfGrids(*std::move(on_grids));
    return SearchLate(graph, options, restrictions, budget);
  }
  if (budget.end() != Budget::End::kNone) return SearchLate(graph, options, restrictions, budget);
  GridSolution on_grids;
  std::vector<Assignment> starts = Starts(graph, options, base, problem, &on_grids);
  LowerBound& bound = on_grids.bound;
  Solution best = SolveApproximately(graph, problem, std::move(starts), table_cells, budget);
  found.proof = std::move(bound.proof);
  found.lower_bound = bound.bytes;
  if (auto raised = SolvePruned(problem, best, base.mesh, table_cells, budget)) {
    best = raised->solution;
    if (raised->bound > found.lower_bound) {
      found.proof = Proof();
      found.proof.kind = ProofKind::kPruned;
      found.proof.order = problem.ElementOrder(raised->order);
      found.proof.plain = static_cast<int>(problem.clusters.merged.size()) + raised->plain;
      found.lower_bound = raised->bound;
    }
  }
  if (found.lower_bound < best.cost) {
    const Choices preferred = PreferredChoices(graph, AllAxesOf(options, restrictions, budget));
    if (!preferred.empty()) {
      Solution other =
          SolveLocally(problem.pairwise, {problem.ValuesOf(preferred)}, table_cells, budget);
      if (other.cost < best.cost) best = std::move(other);
    }
  }
  const bool near = IsNear(best.cost, found.lower_bound);
  if (start && !near && restrictions.empty() && !budget.ShouldStop()) {
    const Assignment values = problem.ValuesOf(start());
    Solution other = SolveLocally(problem.pairwise, {values}, table_cells, budget);
    if (other.cost < best.cost) best = std::move(other);
  }
  found.choices = problem.ChoicesOf(best.assignment);
  return found;
}

}  // namespace yuba::search
