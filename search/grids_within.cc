#include "search/grids_within.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/types/optional.h"
#include "opsemantics/base/check.h"
#include "search/label_within.h"
#include "search/lower_bound.h"

namespace yuba {
namespace {

constexpr double kFar = 1.02;  // from the bound
constexpr double kVeryFar = 1.25;
constexpr int64_t kLowerStep = 32;  // of the limit, by which another is below it
constexpr int kFitting = 2;         // plans that fit, near the bound's grids
constexpr int kMended = 4;          // of the plans known before, in each pass
constexpr int kPasses = 3;
constexpr int64_t kNear = 64;  // of the limit: what mending may take off

// All of the problem, with its rows, or nothing.
absl::optional<GridProblem> GridsWithRows(const Graph& graph, const LimitedSearch& search,
                                          const std::vector<TensorUse>& uses,
                                          std::vector<MemoryBuffer>* buffers) {
  const Mesh& mesh = search.problem.mesh;
  const Budget& budget = *search.problem.budget;
  absl::optional<GridProblem> grids =
      BuildGridProblem(graph, mesh, uses, search.problem.replicate, budget);
  if (!grids.has_value() || !grids->complete) return absl::nullopt;
  const int64_t limit = search.limit > 0 ? search.limit : kNoLimit;
  MemoryUsage usage = GridUsageOf(graph, mesh, *grids, limit, budget);
  grids->pairwise.memory = std::move(usage.rows);
  *buffers = std::move(usage.buffers);
  return grids;
}

int64_t BytesOf(const Graph& graph, const Mesh& mesh, const Cuts& cuts) {
  Plan plan;
  plan.mesh = mesh;
  const auto middle = cuts.begin() + static_cast<int64_t>(graph.tensors.size());
  plan.tensors.assign(cuts.begin(), middle);
  plan.nodes.assign(middle, cuts.end());
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

  absl::StatusOr<LimitedCuts> Run() {
    given_ = search_.known;
    if (search_.others) {
      for (Cuts& each : search_.others()) given_.push_back(std::move(each));
    }
    if (search_.memory_of) TryKnown();  // while there is time
    const std::vector<TensorUse> uses = TensorUsesOf(graph_, mesh_);
    grids_ = GridsWithRows(graph_, search_, uses, &buffers_);
    if (!search_.memory_of) TryKnown();
    LimitedCuts result;
    if (grids_.has_value() && budget_.end() == Budget::End::kNone) {
      least_peak_ = std::min(limit_, PeakOf(grids_->pairwise, LeastUses(*grids_)));
      if (!best_.has_value()) TryFrugal(uses);  // prices are found sooner if a plan is known
      LowerBound bound =
          PricedBound(graph_, *grids_, budget_, best_.has_value() ? least_ : kForbidden);
      SearchLabels(uses, *grids_, bound);
      SearchBelow(uses, bound.bytes);
      result.lower_bound = bound.bytes;
      if (bound.bytes > 0) result.proof = std::move(bound.proof);
    }
    if (!best_.has_value() && search_.last && budget_.end() == Budget::End::kNone) {
      for (const Cuts& each : search_.last()) Try(each);
    }
    if (!best_.has_value()) return NothingFits();
    result.cuts = *std::move(best_);
    return result;
  }

 private:
  void TryKnown() {
    for (const Cuts& each : given_) Try(each);
  }

  LabelOptions Options() const {
    LabelOptions options;
    options.mesh = mesh_;
    options.nesting = search_.problem.nesting;
    options.budget = &budget_;
    return options;
  }

  // From as little as there can be.
  void TryFrugal(const std::vector<TensorUse>& uses) {
    LowerBound frugal;
    const Assignment least = LeastUses(*grids_);
    for (size_t e = 0; e < least.size(); ++e) {
      frugal.grids.push_back({(*grids_->grids[e])[least[e]]});
    }
    const LabelOptions options = Options();
    LabelsWithin labels(graph_, options, uses, *grids_, buffers_, frugal,
                        search_.problem.replicate);
    TryNear(labels);
  }

  void SearchLabels(const std::vector<TensorUse>& uses, const GridProblem& grids,
                    const LowerBound& bound) {
    const LabelOptions options = Options();
    const auto enough = [&] { return best_.has_value() && least_ <= bound.bytes; };
    if (enough()) return;
    const std::vector<MemoryBuffer> none;
    const bool replicate = search_.problem.replicate;
    LabelsWithin labels(graph_, options, uses, grids, buffers_, bound, replicate);
    TryNear(labels);
    for (const Cuts& each : given_) {
      if (!enough() && !budget_.Spent()) Try(labels.Mend(each, limit_));
    }
    // Programs may need less than all buffers.
    LabelsWithin hopeful(graph_, options, uses, grids, none, bound, replicate);
    if (!best_.has_value() || least_ > kFar * static_cast<double>(bound.bytes)) TryNear(hopeful);
    for (int pass = 0; pass < kPasses; ++pass) {
      LabelsWithin& here = pass % 2 == 0 ? labels : hopeful;
      for (const Tried& known : Known()) {
        if (enough() || budget_.Spent()) return;
        const int64_t room = limit_ - known.needed;
        const int64_t peak = here.Peak(known.cuts);
        if (room < 0) Try(here.Mend(known.cuts, peak + room, true));
        Try(here.Mend(known.cuts, peak + (room < 0 ? room / (1 + pass) : room)));
      }
    }
  }

  // Where the best is far from the bound: prices of a lower limit lead to other plans.
  void SearchBelow(const std::vector<TensorUse>& uses, int64_t bound) {
    const int64_t below = limit_ - limit_ / kLowerStep;
    const bool far = best_.has_value() &&
                     static_cast<double>(least_) > kVeryFar * static_cast<double>(bound);
    if (!far || search_.limit == 0 || below < least_peak_ || budget_.Spent()) return;
    GridProblem less = *grids_;
    less.pairwise.memory.limit = below;
    SearchLabels(uses, less, PricedBound(graph_, less, budget_, least_));
  }

  // Labels for these grids, the rows being kept to less and less until a program fits.
  void TryNear(LabelsWithin& labels) {
    const Cuts near = labels.Find(limit_);
    const int64_t excess = std::max<int64_t>(0, Try(near)), room = limit_ - least_peak_;
    std::vector<int64_t> less = {excess, room};
    for (int64_t part : {32, 16, 8, 4, 2}) less.push_back(room / part);
    std::sort(less.begin(), less.end());
    int fitting = excess == 0;
    for (const int64_t each : less) {
      if (fitting >= kFitting || budget_.Spent()) return;
      if (each > 0 && each <= room) fitting += Try(labels.Mend(near, limit_ - each)) <= 0;
    }
  }

  // By element the grid of least usage.
  static Assignment LeastUses(const GridProblem& grids) {
    std::vector<std::vector<int64_t>> sums;
    for (const GridList& list : grids.grids) sums.emplace_back(list->size(), 0);
    for (const MemoryUse& use : grids.pairwise.memory.uses) {
      std::vector<int64_t>& sum = sums[use.variable];
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*use.usage)[i];
    }
    Assignment least;
    for (const std::vector<int64_t>& sum : sums) {
      least.push_back(static_cast<int>(std::min_element(sum.begin(), sum.end()) - sum.begin()));
    }
    return least;
  }

  struct Tried {
    Cuts cuts;
    int64_t bytes = 0, needed = 0;
  };

  // The best of those before, of those that fit, or hardly fail to, and of others.
  std::vector<Tried> Known() const {
    std::vector<Tried> known = tried_;
    const int64_t near = limit_ + limit_ / kNear;
    const auto place = [near](const Tried& tried) {
      return std::make_tuple(std::max(tried.needed, near), tried.bytes, tried.needed);
    };
    std::stable_sort(known.begin(), known.end(),
                     [&](const Tried& a, const Tried& b) { return place(a) < place(b); });
    const auto same = [&](const Tried& a, const Tried& b) { return a.cuts == b.cuts; };
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
  int64_t NeededBy(const Cuts& cuts) const {
    if (search_.memory_of) return search_.memory_of(cuts);
    if (!grids_.has_value()) return search_.limit > 0 ? kNoLimit : 0;
    Assignment assignment;
    for (size_t e = 0; e < cuts.size(); ++e) {
      assignment.push_back(PlaceOfGrid(GridOf(cuts[e], mesh_), *grids_->grids[e]));
    }
    return PeakOf(grids_->pairwise, assignment);
  }

  // By how much the program exceeds the limit; keeps the cheapest that does not.
  int64_t Try(const Cuts& cuts) {
    Tried tried = {cuts, BytesOf(graph_, mesh_, cuts), NeededBy(cuts)};
    smallest_ = std::min(smallest_, tried.needed);
    if (tried.needed <= limit_ && (!best_.has_value() || tried.bytes < least_)) {
      best_ = cuts;
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
  std::vector<Cuts> given_;            // what was known before, and what others choose
  std::vector<MemoryBuffer> buffers_;
  std::vector<Tried> tried_;
  int64_t smallest_ = kNoLimit, least_ = 0, least_peak_ = 0;
  absl::optional<Cuts> best_;
};

}  // namespace

absl::StatusOr<LimitedCuts> SearchGridsWithinLimit(const Graph& graph,
                                                   const LimitedSearch& search) {
  return GridsWithin(graph, search).Run();
}

void BoundOnGrids(const Graph& graph, const LimitedSearch& search, LimitedCuts& found) {
  const Budget& budget = *search.problem.budget;
  const Mesh& mesh = search.problem.mesh;
  std::vector<MemoryBuffer> buffers;
  const absl::optional<GridProblem> grids =
      GridsWithRows(graph, search, TensorUsesOf(graph, mesh), &buffers);
  if (!grids.has_value() || budget.Spent()) return;
  LowerBound bound = PricedBound(graph, *grids, budget, BytesOf(graph, mesh, found.cuts));
  found.lower_bound = bound.bytes;
  if (bound.bytes > 0) found.proof = std::move(bound.proof);
}

}  // namespace yuba
