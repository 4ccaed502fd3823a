#include "search/engines/within_limit.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/optional.h"
#include "opsemantics/base/check.h"
#include "search/model/grid_classes.h"
#include "search/model/memory_rows.h"
#include "search/solve/memory_region.h"
#include "search/solve/memory_rounds.h"
#include "search/solve/prices.h"

namespace yuba::search {
namespace {

constexpr size_t kNamed = 3;    // elements that an error names, of those that fill the memory
constexpr int kFineRounds = 4;  // in which the target sinks by the excess, not by a whole step
constexpr int kVain = 2;        // rounds that find nothing cheaper, after which Solve ends
constexpr int64_t kNear = 101, kFar = 105;      // the best, in percent of the bound
constexpr int kPasses = 3;                      // of prices of lower and lower limits
constexpr int64_t kSteps = 64;                  // the target sinks by 1/64 of the limit
constexpr int64_t kFewSums = int64_t{1} << 27;  // of an elimination that passes may repeat
constexpr size_t kFewVariables = 256;           // of a problem whose plans are tried one by one
constexpr char kSmallest[] = "yuba/smallest";   // the key of an error's payload

// (bytes in use at that time, variable), most first.
std::vector<std::pair<int64_t, int>> UsesAt(const PairwiseProblem& problem,
                                            const Assignment& assignment, int64_t time) {
  std::vector<std::pair<int64_t, int>> uses;
  for (const MemoryUse& use : problem.memory.uses) {
    if (time < use.begin || use.end <= time) continue;
    uses.emplace_back((*use.usage)[assignment[use.variable]], use.variable);
  }
  std::sort(uses.rbegin(), uses.rend());
  return uses;
}

class WithinLimit {
 public:
  WithinLimit(const Graph& graph, const LimitedSearch& search)
      : graph_(graph),
        search_(search),
        limit_(search.limit > 0 ? search.limit : kNoLimit),
        budget_(*search.problem.budget),
        problem_(BuildProblem(graph, search.problem)) {
    if (budget_.ShouldStop()) return;
    problem_.pairwise.memory = MemoryRowsOf(graph, search.problem.mesh, problem_, limit_, budget_);
  }

  absl::StatusOr<Candidate> Run() {
    if (budget_.ShouldStop()) return StoppedWithin(budget_, limit_);
    const PairwiseProblem& pairwise = problem_.pairwise;
    for (const Choices& choices : search_.known) {
      starts_.push_back(problem_.ValuesOf(choices));
      Try(starts_.back());
    }
    Try(LeastUsage(pairwise));
    const std::vector<ClassesPtr> grids = GridsOf(problem_, search_.problem.mesh);
    const int64_t least = LeastPeakOf(pairwise);
    Candidate result;
    if (least <= limit_) {
      result = SolveNear(grids, least);
    } else {
      TryOthers();
    }
    if (useless_) return absl::NotFoundError("nothing moves less than what is known");
    if (budget_.end() != Budget::End::kNone && least <= limit_ && !IsWithin(kFar)) MendLate();
    if (!best_.has_value() && budget_.end() != Budget::End::kNone) {
      return StoppedWithin(budget_, limit_);
    }
    if (!best_.has_value() && search_.explain) SeekSmallest(grids);
    if (!best_.has_value()) {
      return TooLittle(graph_, pairwise, problem_.elements, LeastUsage(pairwise), limit_,
                       smallest_);
    }
    result.choices = problem_.ChoicesOf(*best_);
    return result;
  }

 private:
  // Finds the bound and its proof, and tries what is found on the way. Where nothing fits, or the
  // best is far from the bound, prices of lower limits lead to other plans.
  Candidate SolveNear(const std::vector<ClassesPtr>& grids, int64_t least) {
    const PairwiseProblem& pairwise = problem_.pairwise;
    const int64_t known_before = search_.known_bytes > 0 ? search_.known_bytes : kForbidden;
    const LimitSolver solver = SolverOf(pairwise, grids, search_.table_cells, known_before);
    prices_ = solver.prices();
    useless_ = solver.bound() >= known_before;
    if (useless_) return {};
    Candidate result;
    bound_ = solver.bound();
    const bool eliminated = !solver.order().empty();
    if (!eliminated) result = AskGrids();
    TryOthers();
    if (!eliminated && IsWithin(kNear)) return result;
    Solve(solver);
    const auto enough = [&] { return IsWithin(kFar); };
    const bool many = pairwise.variables.size() > Region::kMostVariables;
    if (eliminated && many && !enough()) result = AskGrids();
    const int passes = search_.limit > 0 ? kPasses : 0;
    for (int pass = 1; pass <= passes && !enough() && !budget_.ShouldStop(); ++pass) {
      PairwiseProblem less = pairwise;
      less.memory.limit = std::max(limit_ - limit_ / kSteps * pass * pass,
                                   least + (limit_ - least) * (kPasses - pass) / kPasses);
      const LimitSolver other =
          SolverOf(less, grids, solver.sums() < kFewSums ? search_.table_cells : 0, known());
      if (other.bound() < known()) Solve(other);
    }
    if (!eliminated || solver.bound() < result.lower_bound) return result;
    result.proof = Proof();
    result.proof.kind = ProofKind::kElimination;
    result.lower_bound = solver.bound();
    result.proof.order = problem_.ElementOrder(solver.order());
    if (search_.limit > 0) result.proof.prices = solver.prices();
    return result;
  }

  // Bound and proof of the search on grids. Its plan is tried and becomes a start.
  Candidate AskGrids() {
    if (!search_.on_grids || search_.table_cells == 0 || budget_.ShouldStop()) return {};
    absl::StatusOr<Candidate> found = search_.on_grids();
    if (!found.ok()) return {};
    starts_.push_back(problem_.ValuesOf(found->choices));
    Try(starts_.back());
    bound_ = std::max(bound_, found->lower_bound);
    return *std::move(found);
  }

  // Whether there is a plan that costs at most `percent` % of the bound.
  bool IsWithin(int64_t percent) const {
    return best_.has_value() &&
           absl::int128(CostOf(problem_.pairwise, *best_)) * 100 <= absl::int128(bound_) * percent;
  }

  void TryOthers() {
    if (!search_.others) return;
    for (const Choices& choices : search_.others()) Try(problem_.ValuesOf(choices));
  }

  // The bytes that a plan must move less than to be of use; kForbidden where none is known.
  int64_t known() const {
    const int64_t before = search_.known_bytes > 0 ? search_.known_bytes : kForbidden;
    return best_.has_value() ? std::min(before, CostOf(problem_.pairwise, *best_)) : before;
  }

  LimitSolver SolverOf(const PairwiseProblem& problem, const std::vector<ClassesPtr>& grids,
                       int64_t table_cells, int64_t known) const {
    LimitSolver solver(problem, grids, table_cells, known, budget_);
    for (const Assignment& start : starts_) solver.AddStart(start);
    return solver;
  }

  // Solves for lower and lower targets. Programs need more than the rows count: the target sinks at
  // first by just that excess, then by whole steps.
  void Solve(const LimitSolver& solver) {
    const PairwiseProblem& pairwise = problem_.pairwise;
    int64_t target = solver.limit();
    std::vector<Assignment> near;
    int vain = 0;
    for (int round = 0; target > limit_ / 2 && !budget_.ShouldStop(); ++round) {
      const absl::optional<Assignment> assignment = solver.Solve(target, &near);
      if (!assignment.has_value()) break;
      const bool useless = CostOf(pairwise, *assignment) >= known();
      const int64_t excess = Try(*assignment);
      if (IsWithin(kNear)) return;
      if (useless && ++vain == kVain) break;
      const int64_t step = std::max<int64_t>(1, limit_ / kSteps);
      target -= excess > 0 && round < kFineRounds ? std::min(excess, step) : step;
    }
    solver.Improve(best_.value_or(LeastUsage(pairwise)), known(),
                   [this](const Assignment& assignment) {
                     return !budget_.ShouldStop() && Try(assignment) <= 0;
                   });
  }

  // Where time ran out: brings the starts and the best within the limit, in a little overtime; at
  // the prices that were found, and without prices.
  void MendLate() {
    const Budget overtime = budget_.Overtime();
    std::vector<Assignment> starts = starts_;
    if (best_.has_value()) starts.push_back(*best_);
    starts.insert(best_.has_value() ? starts.end() : starts.begin(), LeastUsage(problem_.pairwise));
    for (const std::vector<MemoryPrice>& prices : {prices_, std::vector<MemoryPrice>()}) {
      for (const Assignment& start : starts) {
        if (!overtime.ShouldStop()) Mend(start, prices, overtime);
      }
      if (prices_.empty()) return;
    }
  }

  void Mend(const Assignment& start, const std::vector<MemoryPrice>& prices, const Budget& budget) {
    PairwiseProblem tight = problem_.pairwise;
    for (int round = 0; round < kFineRounds; ++round) {
      const absl::optional<MemoryCore> core = MakeCore(tight);
      if (!core.has_value() || core->least_peak > tight.memory.limit) return;
      const absl::optional<Assignment> found =
          SearchWithin(*core, prices, core->Reduce(start), bound_, budget);
      if (!found.has_value()) return;
      const int64_t excess = Try(core->Expand(*found));
      if (excess <= 0 || budget.ShouldStop()) return;
      tight.memory.limit -= excess;
    }
  }

  // Where nothing fits: looks for the smallest program of a small problem, for the error to name.
  void SeekSmallest(const std::vector<ClassesPtr>& grids) {
    if (problem_.pairwise.variables.size() > kFewVariables) return;
    for (int pass = 0; pass < kPasses && !budget_.ShouldStop(); ++pass) {
      const int64_t before = smallest_;
      PairwiseProblem more = problem_.pairwise;
      more.memory.limit = before - 1;
      SolverOf(more, grids, 0, kForbidden)
          .Improve(LeastUsage(more), kForbidden, [this, before](const Assignment& assignment) {
            if (budget_.ShouldStop()) return false;
            Try(assignment);
            return smallest_ < before;
          });
      if (smallest_ == before) return;
    }
  }

  // Returns by how many bytes the program of an assignment exceeds the limit (0: it fits), and
  // keeps the cheapest that fits. One with a forbidden pair of choices is within no limit.
  int64_t Try(const Assignment& assignment) {
    const PairwiseProblem& pairwise = problem_.pairwise;
    if (CostOf(pairwise, assignment) >= kForbidden) return kNoLimit;
    const auto [place, is_new] = needed_.emplace(assignment, 0);
    if (is_new) {
      place->second = search_.memory_of ? search_.memory_of(problem_.ChoicesOf(assignment))
                                        : PeakOf(pairwise, assignment);
    }
    const int64_t needed = place->second;
    smallest_ = std::min(smallest_, needed);
    if (needed > limit_) return needed - limit_;
    if (!best_.has_value() || CostOf(pairwise, assignment) < CostOf(pairwise, *best_)) {
      best_ = assignment;
    }
    return 0;
  }

  const Graph& graph_;
  const LimitedSearch& search_;
  const int64_t limit_;
  const Budget& budget_;
  Problem problem_;
  std::vector<Assignment> starts_;
  std::map<Assignment, int64_t> needed_;  // bytes a device, by assignment tried
  int64_t smallest_ = kNoLimit;
  absl::optional<Assignment> best_;
  std::vector<MemoryPrice> prices_;  // of the solver's bound; empty: none yet
  bool useless_ = false;             // nothing costs less than search_.known_bytes
  int64_t bound_ = 0;                // bytes: no plan within the limit moves less
};

}  // namespace

int64_t LeastPeakOf(const PairwiseProblem& problem) {
  PairwiseProblem rows;
  rows.memory = problem.memory;
  for (MemoryUse& use : rows.memory.uses) {
    const auto least = std::min_element(use.usage->begin(), use.usage->end());
    use.usage = std::make_shared<const std::vector<int64_t>>(1, *least);
  }
  return UnmovedPeakOf(rows, Assignment(problem.variables.size(), 0));
}

absl::Status TooLittle(const Graph& graph, const PairwiseProblem& problem,
                       const std::vector<int>& elements, const Assignment& least, int64_t limit,
                       int64_t smallest) {
  int64_t time = 0;
  const int64_t peak = UnmovedPeakOf(problem, least, &time);
  if (graph.nodes.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no plan within ", limit, " bytes a device: inputs and outputs need ", peak));
  }
  const int tensors = static_cast<int>(graph.tensors.size());
  std::vector<std::string> largest;
  for (const auto& [bytes, variable] : UsesAt(problem, least, time)) {
    if (largest.size() == kNamed) break;
    const int element = elements[variable];
    largest.push_back(absl::StrCat(
        element < tensors
            ? graph.tensors[element].name
            : absl::StrCat("what node ", graph.nodes[element - tensors].name, " works on"),
        " ", bytes, " B"));
  }
  const size_t node = std::min<size_t>(time / 3, graph.nodes.size() - 1);
  const std::string found =
      smallest < kNoLimit
          ? absl::StrCat(" (the smallest of those that were tried needs ", smallest, ")")
          : "";
  absl::Status error = absl::FailedPreconditionError(absl::StrCat(
      "no plan within ", limit, " bytes a device was found", found, ": at least ", peak,
      " are in use at node ", graph.nodes[node].name, ", most of them by ",
      absl::StrJoin(largest, ", "), ". Allow more with --memory, or use more devices"));
  if (smallest < kNoLimit) error.SetPayload(kSmallest, absl::Cord(absl::StrCat(smallest)));
  return error;
}

int64_t SmallestPeak(const absl::Status& error) {
  int64_t smallest = 0;
  const absl::optional<absl::Cord> payload = error.GetPayload(kSmallest);
  const bool known = payload.has_value() && absl::SimpleAtoi(std::string(*payload), &smallest);
  return known ? smallest : std::numeric_limits<int64_t>::max();
}

absl::Status StoppedWithin(const Budget& budget, int64_t limit) {
  if (budget.end() == Budget::End::kAsked) {
    return absl::CancelledError(
        absl::StrCat("interrupted before a plan within ", limit, " bytes a device was found"));
  }
  return absl::DeadlineExceededError(
      absl::StrCat("no plan within ", limit, " bytes a device was found in time: allow more with ",
                   "--time-limit or --memory, or use more devices"));
}

absl::StatusOr<Candidate> SearchWithinLimit(const Graph& graph, const LimitedSearch& search) {
  return WithinLimit(graph, search).Run();
}

}  // namespace yuba::search
