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

constexpr double kFar = 1.02;  // from the bound
constexpr double kVeryFar = 1.1;
constexpr double kFarthest = 1.25;
constexpr double kGain = 1.01;            // by one lower limit, that the next is worth a try
constexpr int64_t kLower[] = {32, 8, 2};  // limits are lower by these parts of what is optional
constexpr int kFitting = 2;               // plans that fit, near the bound's grids
constexpr int kMended = 4;                // of the plans known before, in each pass
constexpr int kPasses = 3;
constexpr int64_t kNear = 64;  // of the limit: what mending may take off

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
    given_ = search_.known;
    if (search_.others) {
      for (Choices& each : search_.others()) given_.push_back(std::move(each));
    }
    if (search_.memory_of) TryKnown();  // while there is time
    const std::vector<TensorUse> uses = TensorUsesOf(graph_, mesh_);
    grids_ = GridsWithRows(graph_, search_, uses);
    if (grids_.has_value() && !grids_->complete) grids_.reset();
    if (!search_.memory_of) TryKnown();
    Candidate result;
    if (grids_.has_value()) {
      least_peak_ = std::min(limit_, UnmovedPeakOf(grids_->pairwise, LeastUses(*grids_)));
      if (!best_.has_value()) TryFrugal(uses);  // prices are found sooner if a plan is known
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
      for (const Choices& each : search_.last()) Try(each);
    }
    if (!best_.has_value()) return NothingFits();
    result.choices = *std::move(best_);
    return result;
  }

 private:
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

  // From as little as there can be.
  void TryFrugal(const std::vector<TensorUse>& uses) {
    LowerBound frugal;
    frugal.grids = OneEach(LeastUses(*grids_));
    const AxisOptions options = Options();
    AxesWithinLimit labels(graph_, options, uses, *grids_, true, frugal, search_.problem.replicate);
    TryNear(labels);
  }

  void SearchAxes(const std::vector<TensorUse>& uses, const GridProblem& grids,
                  const LowerBound& bound) {
    const AxisOptions options = Options();
    const auto enough = [&] { return best_.has_value() && least_ <= bound.bytes; };
    if (enough()) return;
    const bool replicate = search_.problem.replicate;
    AxesWithinLimit labels(graph_, options, uses, grids, true, bound, replicate);
    TryNear(labels);
    for (const Choices& each : given_) {
      if (!enough() && !budget_.ShouldStop()) Try(labels.Mend(each, limit_));
    }
    // Programs may need less than all buffers.
    AxesWithinLimit hopeful(graph_, options, uses, grids, false, bound, replicate);
    if (IsFar(kFar, bound.bytes)) TryNear(hopeful);
    for (int pass = 0; pass < kPasses; ++pass) {
      AxesWithinLimit& here = pass % 2 == 0 ? labels : hopeful;
      for (const Attempt& known : Known()) {
        if (enough() || budget_.ShouldStop()) return;
        const int64_t room = limit_ - known.needed;
        const int64_t peak = here.Peak(known.choices);
        if (room < 0) Try(here.Mend(known.choices, peak + room, true));
        Try(here.Mend(known.choices, peak + (room < 0 ? room / (1 + pass) : room)));
      }
    }
  }

  // Where the best is far from the bound: grids that keep to the rows together.
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

  // The same: prices of lower limits lead to other plans.
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

  // What a plan must cost less than; kForbidden where there is none yet.
  int64_t Cheapest() const {
    const int64_t known = search_.known_bytes > 0 ? search_.known_bytes : kForbidden;
    return best_.has_value() ? std::min(known, least_) : known;
  }

  bool IsFar(double times, int64_t bound) const {
    return !best_.has_value() || static_cast<double>(least_) > times * static_cast<double>(bound);
  }

  std::vector<std::vector<Grid>> OneEach(const Assignment& places) const {
    std::vector<std::vector<Grid>> grids;
    for (size_t e = 0; e < places.size(); ++e) {
      grids.push_back({(*grids_->grids[e])[places[e]]});
    }
    return grids;
  }

  // Labels for these grids, the rows being kept to less and less until a program fits.
  void TryNear(AxesWithinLimit& labels) {
    const Choices near = labels.Find(limit_);
    const int64_t excess = std::max<int64_t>(0, Try(near)), room = limit_ - least_peak_;
    std::vector<int64_t> less = {excess, room};
    for (int64_t part : {32, 16, 8, 4, 2}) less.push_back(room / part);
    std::sort(less.begin(), less.end());
    int fitting = excess == 0;
    for (const int64_t each : less) {
      if (fitting >= kFitting || budget_.ShouldStop()) return;
      if (each > 0 && each <= room) fitting += Try(labels.Mend(near, limit_ - each)) <= 0;
    }
  }

  struct Attempt {
    Choices choices;
    int64_t bytes = 0, needed = 0;
  };

  // The best of those before, of those that fit, or hardly fail to, and of others.
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

  // What the program needs; what the rows say where nobody knows.
  int64_t NeededBy(const Choices& choices) const {
    if (search_.memory_of) return search_.memory_of(choices);
    if (!grids_.has_value()) return search_.limit > 0 ? kNoLimit : 0;
    return PeakOf(grids_->pairwise, GridsOf(*grids_, choices, mesh_));
  }

  // By how much the program exceeds the limit; keeps the cheapest that does not.
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
  std::vector<Choices> given_;         // what was known before, and what others choose
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
