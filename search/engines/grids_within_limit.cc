#include "search/engines/grids_within_limit.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/types/optional.h"
#include "search/engines/axes_within_limit.h"
#include "search/engines/grid_rows.h"
#include "search/model/grid_bound.h"

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
constexpr int kFitting = 2;  // plans that fit, near the bound's grids: then TryNear ends
constexpr int kMended = 4;   // plans that are mended in each pass
constexpr int kPasses = 3;
constexpr int64_t kNear = 64;  // a program above the limit by 1/64 of it hardly fails to fit

int64_t BytesOf(const Graph& graph, const Mesh& mesh, const Choices& choices) {
  Plan plan;
  plan.mesh = mesh;
  const auto middle = choices.begin() + static_cast<int64_t>(graph.tensors.size());
  plan.tensors.assign(choices.begin(), middle);
  plan.nodes.assign(middle, choices.end());
  return CostOf(graph, plan).bytes();
}

class GridsWithin {
 public:
  GridsWithin(const Graph& graph, const LimitedSearch& search)
      : graph_(graph),
        search_(search),
        mesh_(search.problem.mesh),
        limit_(search.limit > 0 ? search.limit : kNoLimit),
        budget_(*search.problem.budget) {}

  absl::StatusOr<Candidate> Run() {
    Take(search_.known);
    if (search_.others) Take(search_.others());
    if (search_.memory_of) TryKnown();  // while there is time
    const std::vector<TensorUse> uses = TensorUsesOf(graph_, mesh_);
    grids_ = GridsWithRows(graph_, search_, uses);
    if (grids_.has_value() && !grids_->complete) grids_.reset();
    if (!search_.memory_of) TryKnown();
    Candidate result;
    if (grids_.has_value()) {
      least_peak_ = std::min(limit_, UnmovedPeakOf(grids_->pairwise, LeastUses(*grids_)));
      if (!best_.has_value()) TryFrugal(uses);  // prices are found sooner if a plan is known
      if (LeastPeakOf(grids_->pairwise) > limit_) {
        SearchAxes(uses, *grids_, Frugal());  // for the smallest plan, which the error names
        if (!best_.has_value()) return NothingFits();
      }
      const Budget overtime = budget_.Overtime();
      const bool late = budget_.end() != Budget::End::kNone;
      std::vector<LowerBound> bounds =
          PricedBounds(graph_, *grids_, late ? overtime : budget_, Cheapest());
      LowerBound& bound = bounds[0];
      if (search_.known_bytes > 0 && bound.bytes >= search_.known_bytes) {
        return absl::NotFoundError("nothing moves less than what is known");
      }
      if (!late || !best_.has_value()) SearchAxes(uses, *grids_, bound);
      if (bounds.size() > 1 && IsFar(kFar, bound.bytes)) SearchAxes(uses, *grids_, bounds[1]);
      SearchRows(uses, bound);
      SearchBelow(uses, bound.bytes);
      result.lower_bound = bound.bytes;
      if (bound.bytes > 0) result.proof = std::move(bound.proof);
    }
    if (!best_.has_value() && search_.last && budget_.end() == Budget::End::kNone) {
      given_.clear();
      Take(search_.last());
      TryKnown();
    }
    if (!best_.has_value()) return NothingFits();
    result.choices = *std::move(best_);
    return result;
  }

 private:
  // Plans of other searches, those that meet the pins.
  void Take(const std::vector<Choices>& known) {
    for (const Choices& each : known) {
      if (Meets(each, search_.problem.restrictions)) given_.push_back(each);
    }
  }

  void TryKnown() {
    for (const Choices& each : given_) Try(each);
  }

  AxisOptions Options() const {
    AxisOptions options;
    options.mesh = mesh_;
    options.nesting = search_.problem.nesting;
    options.budget = &budget_;
    return options;
  }

  // The grids of least usage, with no bound.
  LowerBound Frugal() const {
    LowerBound frugal;
    frugal.grids = OneEach(LeastUses(*grids_));
    return frugal;
  }

  // Tries axes for them.
  void TryFrugal(const std::vector<TensorUse>& uses) {
    const LowerBound frugal = Frugal();
    const AxisOptions options = Options();
    AxesWithinLimit axes(graph_, options, uses, *grids_, true, frugal, search_.problem.replicate,
                         search_.problem.restrictions);
    TryNear(axes);
  }

  // Tries axes for the bound's grids, then mends what others found and the best plans tried so far.
  void SearchAxes(const std::vector<TensorUse>& uses, const GridProblem& grids,
                  const LowerBound& bound) {
    const AxisOptions options = Options();
    const auto enough = [&] { return best_.has_value() && least_ <= bound.bytes; };
    if (enough()) return;
    const bool replicate = search_.problem.replicate;
    const Restrictions& restrictions = search_.problem.restrictions;
    AxesWithinLimit axes(graph_, options, uses, grids, true, bound, replicate, restrictions);
    TryNear(axes);
    for (const Choices& each : given_) {
      if (!enough() && !budget_.ShouldStop()) Try(axes.Mend(each, limit_));
    }
    // Programs may need less than rows with all buffers say.
    AxesWithinLimit hopeful(graph_, options, uses, grids, false, bound, replicate, restrictions);
    if (IsFar(kFar, bound.bytes)) TryNear(hopeful);
    for (int pass = 0; pass < kPasses; ++pass) {
      AxesWithinLimit& here = pass % 2 == 0 ? axes : hopeful;
      for (const Attempt& known : Known()) {
        if (enough() || budget_.ShouldStop()) return;
        const int64_t room = limit_ - known.needed;
        const int64_t peak = here.Peak(known.choices);
        if (room < 0) Try(here.Mend(known.choices, peak + room, true));
        Try(here.Mend(known.choices, peak + (room < 0 ? room / (1 + pass) : room)));
      }
    }
  }

  // Where the best is far from the bound: an assignment of grids that keeps to the rows, and axes
  // for it.
  void SearchRows(const std::vector<TensorUse>& uses, const LowerBound& bound) {
    if (!IsFar(kFar, bound.bytes) || budget_.ShouldStop()) return;
    std::vector<Assignment> starts = {LeastUses(*grids_)};
    if (best_.has_value()) starts.push_back(GridsOf(*grids_, *best_, mesh_));
    const absl::optional<Assignment> found =
        GridsInRows(*grids_, bound.proof.prices, starts, bound.bytes, budget_);
    if (!found.has_value()) return;
    LowerBound near = bound;
    near.grids = OneEach(*found);
    SearchAxes(uses, *grids_, near);
  }

  // Where the best is far from the bound: prices of lower limits lead to other grids and plans.
  void SearchBelow(const std::vector<TensorUse>& uses, int64_t bound) {
    double gain = kGain;
    for (const int64_t part : kLower) {
      const bool may = best_.has_value() && search_.limit > 0 &&
                       IsFar(gain >= kGain ? kVeryFar : kFarthest, bound);
      if (!may || budget_.ShouldStop()) return;
      GridProblem less = *grids_;
      less.pairwise.memory.limit = limit_ - (limit_ - least_peak_) / part;
      const std::vector<LowerBound> below = PricedBounds(graph_, less, budget_, Cheapest());
      if (below[0].bytes >= Cheapest()) return;
      const int64_t before = least_;
      for (const LowerBound& each : below) SearchAxes(uses, less, each);
      SearchRows(uses, below[0]);
      gain = static_cast<double>(before) / static_cast<double>(least_);
    }
  }

  // The bytes that a plan must move less than to be of use; kForbidden where none is known.
  int64_t Cheapest() const {
    const int64_t known = search_.known_bytes > 0 ? search_.known_bytes : kForbidden;
    return best_.has_value() ? std::min(known, least_) : known;
  }

  bool IsFar(double times, int64_t bound) const {
    return !best_.has_value() || static_cast<double>(least_) > times * static_cast<double>(bound);
  }

  // By element: the grid at that place of its list, alone.
  std::vector<std::vector<Grid>> OneEach(const Assignment& places) const {
    std::vector<std::vector<Grid>> grids;
    for (size_t e = 0; e < places.size(); ++e) {
      grids.push_back({(*grids_->grids[e])[places[e]]});
    }
    return grids;
  }

  // Tries axes for the grids of `axes`, with lower and lower targets until programs fit.
  void TryNear(AxesWithinLimit& axes) {
    const Choices near = axes.Find(limit_);
    const int64_t excess = std::max<int64_t>(0, Try(near)), room = limit_ - least_peak_;
    std::vector<int64_t> less = {excess, room};
    for (int64_t part : {32, 16, 8, 4, 2}) less.push_back(room / part);
    std::sort(less.begin(), less.end());
    int fitting = excess == 0;
    for (const int64_t each : less) {
      if (fitting >= kFitting || budget_.ShouldStop()) return;
      if (each > 0 && each <= room) fitting += Try(axes.Mend(near, limit_ - each)) <= 0;
    }
  }

  // A plan that was tried: the bytes it moves, and those that its program needs on a device.
  struct Attempt {
    Choices choices;
    int64_t bytes = 0, needed = 0;
  };

  // The kMended best plans tried: first those that fit or hardly fail to, fewest bytes moved first;
  // then those that need least.
  std::vector<Attempt> Known() const {
    std::vector<Attempt> known = tried_;
    const int64_t near = limit_ + limit_ / kNear;
    const auto place = [near](const Attempt& tried) {
      return std::make_tuple(std::max(tried.needed, near), tried.bytes, tried.needed);
    };
    std::stable_sort(known.begin(), known.end(),
                     [&](const Attempt& a, const Attempt& b) { return place(a) < place(b); });
    const auto same = [&](const Attempt& a, const Attempt& b) { return a.choices == b.choices; };
    known.erase(std::unique(known.begin(), known.end(), same), known.end());
    if (known.size() > kMended) known.resize(kMended);
    return known;
  }

  absl::Status NothingFits() const {
    if (!grids_.has_value() || budget_.end() != Budget::End::kNone) {
      return StoppedWithin(budget_, limit_);
    }
    std::vector<int> elements(grids_->grids.size());
    std::iota(elements.begin(), elements.end(), 0);
    return TooLittle(graph_, grids_->pairwise, elements, LeastUses(*grids_), limit_, smallest_);
  }

  // The bytes a device that the program needs; without memory_of, the peak of the rows.
  int64_t NeededBy(const Choices& choices) const {
    if (search_.memory_of) return search_.memory_of(choices);
    if (!grids_.has_value()) return search_.limit > 0 ? kNoLimit : 0;
    return PeakOf(grids_->pairwise, GridsOf(*grids_, choices, mesh_));
  }

  // Returns by how many bytes the program exceeds the limit (0 or less: it fits), and keeps the
  // cheapest plan that fits.
  int64_t Try(const Choices& choices) {
    Attempt tried = {choices, BytesOf(graph_, mesh_, choices), NeededBy(choices)};
    smallest_ = std::min(smallest_, tried.needed);
    if (tried.needed <= limit_ && (!best_.has_value() || tried.bytes < least_)) {
      best_ = choices;
      least_ = tried.bytes;
    }
    tried_.push_back(std::move(tried));
    return tried_.back().needed - limit_;
  }

  const Graph& graph_;
  const LimitedSearch& search_;
  const Mesh& mesh_;
  const int64_t limit_;
  const Budget& budget_;
  absl::optional<GridProblem> grids_;  // with rows
  std::vector<Choices> given_;         // plans of other searches
  std::vector<Attempt> tried_;
  int64_t smallest_ = kNoLimit, least_ = 0, least_peak_ = 0;
  absl::optional<Choices> best_;
};

}  // namespace

absl::StatusOr<Candidate> SearchGridsWithinLimit(const Graph& graph, const LimitedSearch& search) {
  return GridsWithin(graph, search).Run();
}

void BoundOnGrids(const Graph& graph, const LimitedSearch& search, Candidate& found) {
  found.lower_bound = 0;
  found.proof = Proof();
  const Mesh& mesh = search.problem.mesh;
  const absl::optional<GridProblem> grids = GridsWithRows(graph, search, TensorUsesOf(graph, mesh));
  if (!grids.has_value()) return;
  const Budget& budget = *search.problem.budget;
  const int64_t known = BytesOf(graph, mesh, found.choices);
  LowerBound bound = PricedBounds(graph, *grids, budget, known)[0];
  found.lower_bound = bound.bytes;
  if (bound.bytes > 0) found.proof = std::move(bound.proof);
}

}  // namespace yuba::search
