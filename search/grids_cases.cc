#include "search/grids_cases.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

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

// The proof of a list of cases: at the prices of each that is not split, its messages.
class ProofOfCases {
 public:
  ProofOfCases(const Graph& graph, const GridProblem& problem, const std::vector<MemoryCase>& cases,
               const Budget& budget)
      : graph_(graph),
        problem_(problem),
        cases_(cases),
        budget_(budget),
        places_(PlacesOf(problem)),
        splits_(problem.pairwise) {}

  LowerBound Run() {
    LowerBound found;
    found.proof.kind = "dual";
    found.bytes = Next(found.proof);
    if (cases_.size() > 1) return found;
    found.proof.prices = std::move(found.proof.cases[0].prices);
    found.proof.messages = std::move(found.proof.cases[0].messages);
    found.proof.cases.clear();
    return found;
  }

 private:
  int64_t Next(Proof& proof) {
    const MemoryCase& here = cases_[next_++];
    proof.cases.push_back(InProof(here, places_));
    if (here.split.empty()) {
      LowerBound bound =
          DualAtPrices(graph_, problem_, splits_.Under(conditions_), here.prices, budget_);
      proof.cases.back().messages = std::move(bound.proof.messages);
      return bound.bytes;
    }
    int64_t least = kForbidden;
    for (const bool more : {false, true}) {
      conditions_.push_back({here.split, more});
      least = std::min(least, Next(proof));
      conditions_.pop_back();
    }
    return least;
  }

  const Graph& graph_;
  const GridProblem& problem_;
  const std::vector<MemoryCase>& cases_;
  const Budget& budget_;
  const SplitPlaces places_;
  const MemorySplits splits_;
  std::vector<MemoryCondition> conditions_;
  size_t next_ = 0;
};

}  // namespace

LowerBound BoundInCases(const Graph& graph, const GridProblem& problem, LowerBound bound,
                        int64_t known, const Budget& budget) {
  if (bound.proof.prices.empty() || bound.bytes >= known || budget.Spent()) return bound;
  if (SumsAtPrices(problem) > kMostSumsOfOne) return bound;
  CasesOptions options;
  options.bound_at = [&](const PairwiseProblem& limited, const std::vector<MemoryPrice>& prices) {
    PricedBound found;
    found.bytes = DualAtPrices(graph, problem, limited, prices, budget, &found.assignment).bytes;
    return absl::optional<PricedBound>(std::move(found));
  };
  options.sums = SumsAtPrices(problem);
  options.most_sums = kMostSums;
  options.patience = kPatience;
  const auto most = static_cast<size_t>(2 * (kMostNumbers / NumbersIn(bound.proof)) + 1);
  options.most_cases = std::min(options.most_cases, most);
  options.prices = bound.proof.prices;
  options.known = known;
  AddSplits(graph, PlacesOf(problem), &options);
  const CasesFound found = BoundByCases(problem.pairwise, options, budget);
  if (found.bound <= bound.bytes || budget.Spent()) return bound;
  LowerBound better = ProofOfCases(graph, problem, found.cases, budget).Run();
  if (better.bytes <= bound.bytes) return bound;
  better.bytes = std::min(better.bytes, found.bound);
  better.grids = std::move(bound.grids);
  return better;
}

}  // namespace yuba
