#include "search/engines/axes_within_limit.h"

#include <algorithm>

namespace yuba::search {
namespace {

constexpr Effort kTied = {3, 4, 20'000};
constexpr Effort kUntied = {2, 2, 30'000};
constexpr int64_t kPolish = 60'000;  // the work of the last kicks, as Effort::work
constexpr double kSteeper = 8;       // times, from one penalty to the next
constexpr int kPenalties = 6;

// For each byte above the target: more than a byte costs that is in use in all rows.
double PenaltyOver(const std::vector<MemoryPrice>& prices, const PriceScale& scale) {
  double sum = 0;
  for (const MemoryPrice& price : prices) sum += static_cast<double>(price.price);
  return std::max(1.0, 2 * sum / static_cast<double>(scale.units));
}

}  // namespace

AxesWithinLimit::AxesWithinLimit(const Graph& graph, const AxisOptions& options,
                                 const std::vector<TensorUse>& uses, const GridProblem& grids,
                                 bool buffers, const LowerBound& bound, bool replicate,
                                 const Restrictions& restrictions)
    : options_(options),
      prices_(bound.proof.prices),
      store_(options.mesh),
      problem_(MakeAxisProblem(graph, uses, bound.grids, &store_, replicate, restrictions)),
      memory_(problem_, grids, buffers, options.mesh, &store_),
      search_(problem_, options.mesh, options.nesting, *options.budget, &store_, &memory_),
      grids_(grids),
      penalty_(PenaltyOver(prices_, grids.pairwise.memory.scale)) {}

Choices AxesWithinLimit::Find(int64_t target) {
  const AxisProblem tied = Tied(problem_, KindsOf(problem_));
  AxisMemory memory(tied, grids_, false, options_.mesh, &store_);
  AxisSearch alike(tied, options_.mesh, options_.nesting, *options_.budget, &store_, &memory);
  memory.SetPrices(prices_, 1);
  memory.SetTarget(target, penalty_);
  alike.Start(false);
  Refine(tied, kTied, options_, {alike.choices()}, &alike);
  for (size_t e = 0; e < problem_.variable.size(); ++e) {
    search_.Set(problem_.variable[e], alike.choices()[tied.variable[e]]);
  }
  memory_.SetPrices(prices_, 1);
  memory_.SetTarget(target, penalty_);
  Refine(problem_, kUntied, options_, {search_.choices()}, &search_);
  Tighten(target, false);
  return ChoicesOfElements(problem_, search_.choices(), &store_);
}

Choices AxesWithinLimit::Mend(const Choices& choices, int64_t target, bool near) {
  Load(choices);
  Tighten(target, near);
  return ChoicesOfElements(problem_, search_.choices(), &store_);
}

int64_t AxesWithinLimit::Peak(const Choices& choices) {
  Load(choices);
  return memory_.Peak();
}

// Descends at steeper and steeper penalties until the rows keep to the target. Then drops the
// prices and looks for what moves less and stays within the target.
void AxesWithinLimit::Tighten(int64_t target, bool near) {
  if (!near) memory_.SetPrices(prices_, 1);
  double penalty = penalty_;
  for (int i = 0; i < kPenalties && memory_.Peak() > target && !options_.budget->ShouldStop();
       ++i) {
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

void AxesWithinLimit::Load(const Choices& choices) {
  for (size_t v = 0; v < problem_.elements.size(); ++v) {
    search_.Set(static_cast<int>(v), store_.Number(choices[problem_.elements[v]]));
  }
}

}  // namespace yuba::search
