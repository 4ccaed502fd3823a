#include "search/grids_cases.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "search/memory_cases.h"
#include "search/proof_cases.h"

namespace yuba {
namespace {

constexpr int64_t kMostSums = int64_t{1} << 32;
constexpr int64_t kPatience = int64_t{1} << 29;  // the same
constexpr int64_t kMostSumsOfOne = int64_t{1} << 27;
constexpr int64_t kMostNumbers = int64_t{1} << 19;  // of all messages

SplitPlaces PlacesOf(const GridProblem& problem) {
  SplitPlaces places;
  places.elements.resize(problem.grids.size());
  std::iota(places.elements.begin(), places.elements.end(), 0);
  places.variables = places.elements;
  places.factors = problem.factors;
  return places;
}

int64_t NumbersIn(const Proof& proof) {
  int64_t numbers = 1;
  for (const DualMessage& message : proof.messages) {
    numbers += static_cast<int64_t>(message.values.size());
  }
  return numbers;
}

}  // namespace

LowerBound BoundInCases(const Graph& graph, const GridProblem& problem, LowerBound bound,
                        int64_t known, const Budget& budget) {
  if (bound.proof.prices.empty() || bound.bytes >= known || budget.Spent()) return bound;
  if (SumsAtPrices(problem) > kMostSumsOfOne) return bound;
  CasesOptions options;
  options.bound_at = [&](const PairwiseProblem& limited, const std::vector<MemoryPrice>& prices) {
    PricedBound found;
    LowerBound here = DualAtPrices(graph, problem, limited, prices, budget, &found.assignment);
    found.bytes = here.bytes;
    found.messages = std::move(here.proof.messages);
    return absl::optional<PricedBound>(std::move(found));
  };
  options.sums = SumsAtPrices(problem);
  options.most_sums = kMostSums;
  options.patience = kPatience;
  const auto most = static_cast<size_t>(2 * (kMostNumbers / NumbersIn(bound.proof)) + 1);
  options.most_cases = std::min(options.most_cases, most);
  options.prices = bound.proof.prices;
  options.known = known;
  const SplitPlaces places = PlacesOf(problem);
  AddSplits(graph, places, &options);
  const CasesFound found = BoundByCases(problem.pairwise, options, budget);
  if (found.bound <= bound.bytes) return bound;
  bound.bytes = found.bound;
  bound.proof = Proof();
  bound.proof.kind = "dual";
  AddCases(found.cases, places, &bound.proof);
  return bound;
}

}  // namespace yuba
