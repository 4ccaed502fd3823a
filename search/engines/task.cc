#include "search/engines/task.h"

#include <numeric>
#include <utility>

#include "search/engines/choices_within.h"
#include "search/engines/grids_within.h"
#include "search/rewrite/partials.h"

namespace yuba::search {
namespace {

// Where the cost tables of all axes have more cells, engines work on grids.
constexpr int64_t kMostCells = int64_t{1} << 22;
// With replicas tables are about twice as large, and grids know less of them.
constexpr int64_t kMostCellsOfReplicas = int64_t{1} << 23;
// But tables of up to so many cells are made where their elimination takes at most kSoonSums.
constexpr int64_t kEliminatedCells = int64_t{1} << 26;

}  // namespace

Task::Task(const Graph& graph, const SearchOptions& options, const Restrictions& restrictions,
           const Budget& budget)
    : graph_(graph), options_(options), restrictions_(restrictions), budget_(budget) {}

Task::~Task() = default;

bool Task::limited() const { return options_.memory_limit > 0 || replicated(); }

int64_t Task::limit() const { return options_.memory_limit > 0 ? options_.memory_limit : kNoLimit; }

const Budget& Task::time_left() {
  if (budget_.end() == Budget::End::kNone) return budget_;
  if (overtime_ == nullptr) overtime_.reset(new Budget(budget_.Overtime()));
  return *overtime_;
}

bool Task::on_tables() {
  if (!on_tables_.has_value()) {
    on_tables_ = FitsInTables(graph_, options_.mesh, replicated()) ||
                 (!limited() && IsSoonEliminated(graph_, options_, restrictions_, budget_));
  }
  return *on_tables_;
}

const Problem& Task::problem() {
  if (!problem_.has_value()) {
    problem_ = BuildProblem(graph_, AllAxesOf(options_, restrictions_, budget_));
  }
  return *problem_;
}

const absl::optional<Order>& Task::order() {
  if (!order_.has_value()) {
    order_.emplace();
    if (problem().complete) {
      *order_ = GreedyOrder(problem_->pairwise, options_.table_cells, budget_);
    }
  }
  return *order_;
}

const std::vector<TensorUse>& Task::uses() {
  if (!uses_.has_value()) uses_ = TensorUsesOf(graph_, options_.mesh, options_.objective);
  return *uses_;
}

const Graph& Task::whole() {
  if (!HasPartials(graph_)) return graph_;
  if (!whole_.has_value()) whole_ = WithoutPartials(graph_);
  return *whole_;
}

Choices Task::FromWhole(Choices choices) const {
  if (!HasPartials(graph_)) return choices;
  return WithGroups(graph_, options_.mesh, std::move(choices));
}

SearchOptions Unlimited(SearchOptions options) {
  options.memory_limit = 0;
  options.replicate = Replicate::kNone;
  return options;
}

ProblemOptions OptionsOf(const SearchOptions& options, const Restrictions& restrictions,
                         const Budget& budget) {
  ProblemOptions result;
  result.budget = &budget;
  result.mesh = options.mesh;
  result.objective = options.objective;
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

}  // namespace yuba::search
