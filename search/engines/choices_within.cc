#include "search/engines/choices_within.h"

#include <algorithm>
#include <utility>

#include "search/engines/engine.h"
#include "search/engines/nothing_fits.h"
#include "search/model/grid_classes.h"
#include "search/model/memory_rows.h"
#include "search/rows/memory_region.h"
#include "search/rows/memory_search.h"

namespace yuba::search {
namespace {

constexpr int kFineRounds = 4;  // in which the target sinks by the excess, not by a whole step
constexpr int kVain = 2;        // rounds that find nothing cheaper, after which Solve ends
constexpr int64_t kSteps = 64;  // the target sinks by 1/64 of the limit
constexpr int kPasses = 3;      // in which a smaller and smaller program is looked for
constexpr size_t kFewVariables = 256;  // of a problem whose plans are tried one by one

ProblemOptions Unclustered(const Task& task) {
  ProblemOptions options = AllAxesOf(task.options(), task.restrictions(), task.budget());
  options.replicate = task.replicated();
  options.cluster = false;
  return options;
}

}  // namespace

ChoicesWithin::ChoicesWithin(Task& task)
    : graph_(task.graph()),
      options_(task.options()),
      budget_(task.budget()),
      limit_(task.limit()),
      problem_(BuildProblem(graph_, Unclustered(task))) {
  if (budget_.ShouldStop()) return;
  problem_.pairwise.memory = MemoryRowsOf(graph_, options_.mesh, problem_, limit_, budget_);
  least_ = LeastPeakOf(problem_.pairwise);
  grids_ = GridsOf(problem_, options_.mesh);
}

bool ChoicesWithin::IsWide() const {
  return problem_.pairwise.variables.size() > Region::kMostVariables;
}

void ChoicesWithin::Price(Incumbent& incumbent) {
  if (budget_.ShouldStop()) return;
  for (const Choices& choices : incumbent.starts()) starts_.push_back(problem_.ValuesOf(choices));
  for (const Assignment& start : starts_) Try(start, incumbent);
  Try(LeastUsage(problem_.pairwise), incumbent);
  if (least_ > limit_) return;
  const int64_t known = options_.known_value > 0 ? options_.known_value : kForbidden;
  solver_.emplace(problem_.pairwise, grids_, options_.table_cells, known, budget_);
  for (const Assignment& start : starts_) solver_->AddStart(start);
  if (solver_->bound() >= known) incumbent.Dismiss();
  if (!HasBound()) return;
  Proof proof;
  proof.kind = ProofKind::kElimination;
  proof.order = problem_.ElementOrder(solver_->order());
  if (options_.memory_limit > 0) proof.prices = solver_->prices();
  incumbent.Offer(ProvedBound(solver_->bound(), std::move(proof)));
}

// The bytes that a plan must move less than to be of use; kForbidden where none is known.
int64_t ChoicesWithin::Known(const Incumbent& incumbent) const {
  const int64_t before = options_.known_value > 0 ? options_.known_value : kForbidden;
  return std::min(before, incumbent.bytes());
}

// Solves for lower and lower targets. Programs need more than the rows count: the target sinks at
// first by just that excess, then by whole steps.
void ChoicesWithin::Search(Incumbent& incumbent) {
  const PairwiseProblem& pairwise = problem_.pairwise;
  int64_t target = solver_->limit();
  std::vector<Assignment> near;
  int vain = 0;
  for (int round = 0; target > limit_ / 2 && !budget_.ShouldStop(); ++round) {
    const absl::optional<Assignment> assignment = solver_->Solve(target, &near);
    if (!assignment.has_value()) break;
    const bool useless = CostOf(pairwise, *assignment) >= Known(incumbent);
    const int64_t excess = Try(*assignment, incumbent);
    if (incumbent.IsWithin(kNearWithin)) return;
    if (useless && ++vain == kVain) break;
    const int64_t step = std::max<int64_t>(1, limit_ / kSteps);
    target -= excess > 0 && round < kFineRounds ? std::min(excess, step) : step;
  }
  const Assignment best =
      incumbent.HasPlan() ? problem_.ValuesOf(incumbent.choices()) : LeastUsage(pairwise);
  solver_->Improve(best, Known(incumbent), [&](const Assignment& assignment) {
    return !budget_.ShouldStop() && Try(assignment, incumbent) <= 0;
  });
}

void ChoicesWithin::Mend(Incumbent& incumbent, const Budget& overtime) {
  std::vector<Assignment> starts = starts_;
  if (incumbent.HasPlan()) starts.push_back(problem_.ValuesOf(incumbent.choices()));
  starts.insert(incumbent.HasPlan() ? starts.end() : starts.begin(), LeastUsage(problem_.pairwise));
  std::vector<std::vector<MemoryPrice>> kinds = {{}};
  if (solver_.has_value() && !solver_->prices().empty()) {
    kinds.insert(kinds.begin(), solver_->prices());
  }
  for (const std::vector<MemoryPrice>& prices : kinds) {
    for (const Assignment& start : starts) {
      if (!overtime.ShouldStop()) MendOne(start, prices, incumbent, overtime);
    }
  }
}

void ChoicesWithin::MendOne(const Assignment& start, const std::vector<MemoryPrice>& prices,
                            Incumbent& incumbent, const Budget& overtime) {
  PairwiseProblem tight = problem_.pairwise;
  for (int round = 0; round < kFineRounds; ++round) {
    const absl::optional<MemoryCore> core = MakeCore(tight);
    if (!core.has_value() || core->least_peak > tight.memory.limit) return;
    const std::vector<Solution> found =
        SearchWithin(*core, prices, {core->Reduce(start)}, incumbent.bound().bytes(), overtime);
    if (found.empty()) return;
    const int64_t excess = Try(core->Expand(found[0].assignment), incumbent);
    if (excess <= 0 || overtime.ShouldStop()) return;
    tight.memory.limit -= excess;
  }
}

void ChoicesWithin::SeekSmallest(Incumbent& incumbent) {
  if (problem_.pairwise.variables.size() > kFewVariables) return;
  for (int pass = 0; pass < kPasses && !budget_.ShouldStop(); ++pass) {
    const int64_t before = incumbent.smallest();
    PairwiseProblem more = problem_.pairwise;
    more.memory.limit = before - 1;
    LimitSolver solver(more, grids_, 0, kForbidden, budget_);
    for (const Assignment& start : starts_) solver.AddStart(start);
    solver.Improve(LeastUsage(more), kForbidden, [&](const Assignment& assignment) {
      if (budget_.ShouldStop()) return false;
      Try(assignment, incumbent);
      return incumbent.smallest() < before;
    });
    if (incumbent.smallest() == before) return;
  }
}

// Returns by how many bytes the program of an assignment exceeds the limit (0: it fits). One with
// a forbidden pair of choices is within no limit.
int64_t ChoicesWithin::Try(const Assignment& assignment, Incumbent& incumbent) {
  if (CostOf(problem_.pairwise, assignment) >= kForbidden) return kNoLimit;
  return std::max<int64_t>(0, incumbent.Try(problem_.ChoicesOf(assignment)));
}

absl::Status ChoicesWithin::WhyNothingFits(int64_t smallest) const {
  return TooLittle(graph_, problem_.pairwise, problem_.elements, LeastUsage(problem_.pairwise),
                   limit_, smallest);
}

void PriceChoices(Task& task, Incumbent& incumbent) {
  task.choices_within = std::make_unique<ChoicesWithin>(task);
  task.choices_within->Price(incumbent);
}

void SearchWithinRows(Task& task, Incumbent& incumbent) {
  ChoicesWithin& choices = *task.choices_within;
  if (task.budget().end() == Budget::End::kNone) choices.Search(incumbent);
  const bool spent = task.budget().end() != Budget::End::kNone;
  if (spent && !incumbent.IsWithin(kFarWithin)) choices.Mend(incumbent, task.time_left());
}

void SeekSmallest(Task& task, Incumbent& incumbent) {
  task.choices_within->SeekSmallest(incumbent);
}

}  // namespace yuba::search
