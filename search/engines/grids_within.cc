#include "search/engines/grids_within.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "search/engines/engine.h"
#include "search/engines/grid_rows.h"
#include "search/engines/nothing_fits.h"
#include "search/rewrite/partials.h"
#include "search/rows/prices.h"

namespace yuba::search {
namespace {

// How far above the bound the best is: as multiples of the bound.
constexpr double kFar = 1.02;
constexpr double kVeryFar = 1.1;
constexpr double kFarthest = 1.25;
// Prices of lower limits are tried: lower by 1/32, 1/8, 1/2 of what is between the least peak and
// the limit. One that made the best cheaper by kGain times makes the next worth a try.
constexpr double kGain = 1.01;
constexpr int64_t kLower[] = {32, 8, 2};
constexpr int kFitting = 2;    // plans that fit, near the bound's grids: then TryNear ends
constexpr size_t kMended = 4;  // plans that are mended in each pass
constexpr int kPasses = 3;
constexpr int64_t kNear = 64;  // a program above the limit by 1/64 of it hardly fails to fit

// The kMended best plans tried: first those that fit or hardly fail to, fewest bytes moved first;
// then those that need least.
std::vector<Trial> BestTrials(const Incumbent& incumbent, int64_t limit) {
  std::vector<Trial> best = incumbent.trials();
  const int64_t near = limit + limit / kNear;
  const auto place = [near](const Trial& trial) {
    return std::make_tuple(std::max(trial.needed, near), trial.bytes, trial.needed);
  };
  std::stable_sort(best.begin(), best.end(),
                   [&](const Trial& a, const Trial& b) { return place(a) < place(b); });
  best.resize(std::min(best.size(), kMended));
  return best;
}

}  // namespace

// Whether the best plan, of this search or known before, moves more than `times` times the bound.
bool GridsWithin::IsFar(double times, const Incumbent& incumbent, int64_t bound) const {
  return static_cast<double>(Least(incumbent)) > times * static_cast<double>(bound);
}

int64_t GridsWithin::Least(const Incumbent& incumbent) const {
  const int64_t known = task_.options().known_value;
  return known > 0 ? std::min(incumbent.bytes(), known) : incumbent.bytes();
}

void GridsWithin::CheckLeast(Incumbent& incumbent) {
  if (!grids_.has_value()) grids_ = GridsWithRows(task_, task_.budget());
  if (!HasRows() || LeastPeakOf(grids_->pairwise) <= limit_) return;
  task_.nothing_fits = true;
  if (task_.explain && CanPlaceAxes()) TryFrugal(incumbent);
}

void GridsWithin::Bound(Incumbent& incumbent) {
  CheckLeast(incumbent);
  if (task_.nothing_fits) return;
  if (!HasRows() && task_.budget().end() != Budget::End::kNone) {
    grids_ = GridsWithRows(task_, task_.time_left());  // the cache has what was counted
  }
  if (!grids_.has_value()) return;
  if (CanPlaceAxes()) {
    least_peak_ = std::min(limit_, UnmovedPeakOf(grids_->pairwise, LeastUsage(grids_->pairwise)));
    // Prices are found sooner if a plan is known.
    if (Least(incumbent) == kForbidden) TryFrugal(incumbent);
  }
  bounds_ = PricedBounds(task_.graph(), task_.uses(), *grids_, task_.time_left(), Least(incumbent));
  if (bounds_[0].bytes > 0) incumbent.Offer(ProvedBound(bounds_[0].bytes, bounds_[0].proof));
}

bool GridsWithin::CanPlaceAxes() const { return HasRows() && !HasPartials(task_.graph()); }

void GridsWithin::PlaceAxes(Incumbent& incumbent) {
  const bool late = task_.budget().end() != Budget::End::kNone;
  if (late && incumbent.HasPlan()) return;
  const LowerBound& bound = bounds_[0];
  if (incumbent.bytes() <= bound.bytes) return;
  AxesWithinLimit axes = AxesFor(*grids_, bound, true);
  TryNear(axes, incumbent);
  // Where nothing that fits is near these grids, grids that keep to the rows together lead to more.
  if (!late && IsFar(kFarthest, incumbent, bound.bytes)) {
    SearchRowsNear(bound, incumbent);
    if (!IsFar(kVeryFar, incumbent, bound.bytes)) return;
  }
  MendAll(*grids_, bound, axes, incumbent);
  if (bounds_.size() > 1 && IsFar(kFar, incumbent, bound.bytes))
    SearchAxes(*grids_, bounds_[1], incumbent);
}

void GridsWithin::SearchRows(Incumbent& incumbent) {
  if (!rows_searched_) SearchRowsNear(bounds_[0], incumbent);
  SearchBelow(incumbent);
}

GridsWithin::GridsWithin(Task& task) : task_(task), limit_(task.limit()) {
  options_.mesh = task.options().mesh;
  options_.nesting = task.options().nesting;
  options_.budget = &task.budget();
}

// The grids of least usage, with no bound.
LowerBound GridsWithin::Frugal() const {
  LowerBound frugal;
  frugal.grids = OneEach(LeastUsage(grids_->pairwise));
  return frugal;
}

// Tries axes for them: once where nothing fits, for as little as these grids may need.
void GridsWithin::TryFrugal(Incumbent& incumbent) {
  const LowerBound frugal = Frugal();
  AxesWithinLimit axes = AxesFor(*grids_, frugal, true);
  if (!task_.nothing_fits) return TryNear(axes, incumbent);
  incumbent.Try(axes.Find(UnmovedPeakOf(grids_->pairwise, LeastUsage(grids_->pairwise))));
}

AxesWithinLimit GridsWithin::AxesFor(const GridProblem& grids, const LowerBound& bound,
                                     bool buffers) const {
  return AxesWithinLimit(task_.graph(), options_, task_.uses(), grids, buffers, bound,
                         task_.replicated(), task_.restrictions());
}

// Tries axes for the bound's grids, then mends what others found and the best plans tried so far.
void GridsWithin::SearchAxes(const GridProblem& grids, const LowerBound& bound,
                             Incumbent& incumbent) {
  if (incumbent.bytes() <= bound.bytes) return;
  AxesWithinLimit axes = AxesFor(grids, bound, true);
  TryNear(axes, incumbent);
  MendAll(grids, bound, axes, incumbent);
}

// What SearchAxes does after it has tried the bound's grids with `axes`, which count all buffers.
void GridsWithin::MendAll(const GridProblem& grids, const LowerBound& bound, AxesWithinLimit& axes,
                          Incumbent& incumbent) {
  const Budget& budget = task_.budget();
  const auto enough = [&] { return incumbent.bytes() <= bound.bytes; };
  // Another graph's plan is near the bound already, and nothing tried here was as cheap.
  const bool beaten = Least(incumbent) < incumbent.bytes();
  if (beaten && !IsFar(kFar, incumbent, bound.bytes)) return;
  for (const Choices& each : incumbent.starts()) {
    if (enough() || budget.ShouldStop()) break;
    if (Meets(each, task_.restrictions())) incumbent.Try(axes.Mend(each, limit_));
  }
  // Programs may need less than rows with all buffers.
  AxesWithinLimit hopeful = AxesFor(grids, bound, false);
  if (IsFar(kFar, incumbent, bound.bytes)) TryNear(hopeful, incumbent);
  for (int pass = 0; pass < kPasses; ++pass) {
    AxesWithinLimit& here = pass % 2 == 0 ? axes : hopeful;
    for (const Trial& known : BestTrials(incumbent, limit_)) {
      if (enough() || budget.ShouldStop()) return;
      const int64_t room = limit_ - known.needed;
      const int64_t peak = here.Peak(known.choices);
      if (room < 0) incumbent.Try(here.Mend(known.choices, peak + room, true));
      incumbent.Try(here.Mend(known.choices, peak + (room < 0 ? room / (1 + pass) : room)));
    }
  }
}

// Where the best is far from the bound: an assignment of grids that keeps to the rows, and axes
// for it.
void GridsWithin::SearchRowsNear(const LowerBound& bound, Incumbent& incumbent) {
  const Budget& budget = task_.budget();
  if (!IsFar(kFar, incumbent, bound.bytes) || budget.ShouldStop()) return;
  rows_searched_ = true;
  std::vector<Assignment> starts = {LeastUsage(grids_->pairwise)};
  if (incumbent.HasPlan()) {
    starts.push_back(GridsOf(*grids_, incumbent.choices(), task_.options().mesh));
  }
  const absl::optional<Assignment> found = GridsInRows(*grids_, bound, starts, budget);
  if (!found.has_value()) return;
  LowerBound near = bound;
  near.grids = OneEach(*found);
  SearchAxes(*grids_, near, incumbent);
}

// Where the best is far from the bound: prices of lower limits lead to other grids and plans.
void GridsWithin::SearchBelow(Incumbent& incumbent) {
  double gain = kGain;
  for (const int64_t part : kLower) {
    const bool may = incumbent.HasPlan() && task_.options().memory_limit > 0 &&
                     IsFar(gain >= kGain ? kVeryFar : kFarthest, incumbent, bounds_[0].bytes);
    if (!may || task_.budget().ShouldStop()) return;
    GridProblem less = *grids_;
    less.pairwise.memory.limit = limit_ - (limit_ - least_peak_) / part;
    const int64_t before = incumbent.bytes();
    const std::vector<LowerBound> below =
        PricedBounds(task_.graph(), task_.uses(), less, task_.budget(), before);
    if (below[0].bytes >= before) return;
    for (const LowerBound& each : below) SearchAxes(less, each, incumbent);
    SearchRowsNear(below[0], incumbent);
    gain = static_cast<double>(before) / static_cast<double>(incumbent.bytes());
  }
}

// By element: the grid at that place of its list, alone.
std::vector<std::vector<Grid>> GridsWithin::OneEach(const Assignment& places) const {
  std::vector<std::vector<Grid>> grids;
  for (size_t e = 0; e < places.size(); ++e) grids.push_back({(*grids_->grids[e])[places[e]]});
  return grids;
}

// Tries axes for the grids of `axes`, with lower and lower targets until programs fit.
void GridsWithin::TryNear(AxesWithinLimit& axes, Incumbent& incumbent) {
  const Choices near = axes.Find(limit_);
  const int64_t excess = std::max<int64_t>(0, incumbent.Try(near)), room = limit_ - least_peak_;
  std::vector<int64_t> less = {excess, room};
  for (int64_t part : {32, 16, 8, 4, 2}) less.push_back(room / part);
  std::sort(less.begin(), less.end());
  int fitting = excess == 0;
  int64_t peak = axes.Peak(near);
  for (const int64_t each : less) {
    if (fitting >= kFitting || task_.budget().ShouldStop()) return;
    if (each <= 0 || each > room) continue;
    const Choices mended = axes.Mend(near, limit_ - each);
    fitting += incumbent.Try(mended) <= 0;
    // Where rows stay above the limit, a lower target that brings them no lower is the last.
    const int64_t before = peak;
    peak = axes.Peak(mended);
    if (peak > limit_ && peak >= before) return;
  }
}

absl::Status GridsWithin::WhyNothingFits(int64_t smallest) const {
  std::vector<int> elements(grids_->grids.size());
  std::iota(elements.begin(), elements.end(), 0);
  return TooLittle(task_.graph(), grids_->pairwise, elements, LeastUsage(grids_->pairwise), limit_,
                   smallest);
}

void CheckLeastWithin(Task& task, Incumbent& incumbent) {
  task.grids_within = std::make_unique<GridsWithin>(task);
  task.grids_within->CheckLeast(incumbent);
}

void BoundGridsWithin(Task& task, Incumbent& incumbent) {
  if (task.grids_within == nullptr) task.grids_within = std::make_unique<GridsWithin>(task);
  task.grids_within->Bound(incumbent);
}

void PlaceAxesWithin(Task& task, Incumbent& incumbent) {
  if (task.grids_within->CanPlaceAxes()) return task.grids_within->PlaceAxes(incumbent);
  if (!HasPartials(task.graph())) return;
  SearchOptions options = NamedWithin("whole", task.options());
  options.without.insert(options.without.end(), {"plain", "levels", "prices"});
  if (task.options().memory_of) {
    options.memory_of = [&task](const Graph&, const Plan& plan) {
      return task.options().memory_of(
          task.graph(),
          PlanOf(task.graph(), task.options(), {task.FromWhole(AllChoices(plan)), 0, Proof()}));
    };
  }
  Task whole(task.whole(), options, task.restrictions(), task.budget());
  whole.explain = false;
  const absl::StatusOr<Plan> found = RunEngines(whole);
  if (found.ok()) incumbent.Offer(task.FromWhole(AllChoices(*found)));
}

void SearchRows(Task& task, Incumbent& incumbent) { task.grids_within->SearchRows(incumbent); }

}  // namespace yuba::search
