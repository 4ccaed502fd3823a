#include "search/engines/axes_within_limit.h"

#include <algorithm>

namespace yuba::search {
namespace {

constexpr Effort kTied = {3, 4, 20'000};
constexpr Effort kUntied = {2, 2, 30'000};
constexpr int64_t kPolish = 60'000;  // as of a run
constexpr double kSteeper = 8;       // from one penalty to the next
constexpr int kPenalties = 6;

// For each byte above the target, more than any price of all rows.
double PenaltyOver(const std::vector<MemoryPrice>& prices) {
  double sum = 0;
  for (const MemoryPrice& price : prices) sum += static_cast<double>(price.price) / kPriceUnits;
  return std::max(1.0, 2 * sum);
}

}  // namespace

LabelsWithin::LabelsWithin(const Graph& graph, const LabelOptions& options,
                           const std::vector<TensorUse>& uses, const GridProblem& grids,
                           bool buffers, const LowerBound& bound, bool replicate)
    : options_(options),
      prices_(bound.proof.prices),
      store_(options.mesh),
      problem_(MakeLabelProblem(graph, uses, bound.grids, &store_, replicate)),
      memory_(problem_, grids, buffers, options.mesh, &store_),
      search_(problem_, options.mesh, options.nesting, *options.budget, &store_, &memory_),
      grids_(grids),
      penalty_(PenaltyOver(prices_)) {}

Cuts LabelsWithin::Find(int64_t target) {
  const LabelProblem tied = Tied(problem_);
  LabelMemory memory(tied, grids_, false, options_.mesh, &store_);
  LabelSearch alike(tied, options_.mesh, options_.nesting, *options_.budget, &store_, &memory);
  memory.SetPrices(prices_, 1);
  memory.SetTarget(target, penalty_);
  alike.Start(false);
  Refine(tied, kTied, options_, {alike.cuts()}, &alike);
  for (size_t e = 0; e < problem_.variable.size(); ++e) {
    search_.Set(problem_.variable[e], alike.cuts()[tied.variable[e]]);
  }
  memory_.SetPrices(prices_, 1);
  memory_.SetTarget(target, penalty_);
  Refine(problem_, kUntied, options_, {search_.cuts()}, &search_);
  Tighten(target, false);
  return CutsOfElements(problem_, search_.cuts(), &store_);
}

Cuts LabelsWithin::Mend(const Cuts& cuts, int64_t target, bool near) {
  Load(cuts);
  Tighten(target, near);
  return CutsOfElements(problem_, search_.cuts(), &store_);
}

int64_t LabelsWithin::Peak(const Cuts& cuts) {
  Load(cuts);
  return memory_.Peak();
}

// Until the rows keep to the target; then whatever moves less and leaves them there.
void LabelsWithin::Tighten(int64_t target, bool near) {
  if (!near) memory_.SetPrices(prices_, 1);
  double penalty = penalty_;
  for (int i = 0; i < kPenalties && memory_.Peak() > target && !options_.budget->Spent(); ++i) {
    memory_.SetTarget(target, penalty);
    search_.Descend();
    penalty *= kSteeper;
  }
  memory_.SetPrices({}, 0);
  memory_.SetTarget(target, penalty);
  search_.Descend();
  if (near) return;
  search_.Kick(kPolish);
  search_.Descend();
}

void LabelsWithin::Load(const Cuts& cuts) {
  for (size_t v = 0; v < problem_.elements.size(); ++v) {
    search_.Set(static_cast<int>(v), store_.Number(cuts[problem_.elements[v]]));
  }
}

}  // namespace yuba::search
