#include "search/solve/anchored_dual.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "search/solve/dual.h"

namespace yuba::search {
namespace {

constexpr double kLeastSweeps = 20, kMostSweeps = 100;
constexpr double kWork = 2e9;  // cells of all factors times sweeps: some two seconds

// The variable with symmetries that is in the scopes of most factors; -1: none has any.
int AnchorOf(const PairwiseProblem& problem) {
  std::vector<int> factors(problem.variables.size(), 0);
  for (const Factor& factor : problem.factors) {
    for (const int v : factor.scope) ++factors[v];
  }
  int anchor = -1;
  for (size_t v = 0; v < factors.size(); ++v) {
    const Domain& domain = *problem.variables[v];
    if (domain.images.size() < 2 || domain.size < 2) continue;
    if (anchor < 0 || factors[v] > factors[anchor]) anchor = static_cast<int>(v);
  }
  return anchor;
}

// The problem in which all values of the anchor but one of each orbit are forbidden.
PairwiseProblem Anchored(const PairwiseProblem& problem, int anchor) {
  const Domain& domain = *problem.variables[anchor];
  std::vector<int64_t> costs(domain.size, kForbidden);
  for (const int value : OrbitRepresentatives(domain)) costs[value] = 0;
  PairwiseProblem anchored = problem;
  anchored.factors.push_back(
      {{anchor}, std::make_shared<const std::vector<int64_t>>(std::move(costs))});
  return anchored;
}

int SweepsFor(const PairwiseProblem& problem) {
  double cells = 1;
  for (const Factor& factor : problem.factors) cells += static_cast<double>(factor.cells->size());
  return static_cast<int>(std::clamp(kWork / cells, kLeastSweeps, kMostSweeps));
}

}  // namespace

absl::optional<Assignment> PreferredByAnchoredDual(const PairwiseProblem& problem,
                                                   const std::vector<int>& order,
                                                   const Budget& budget) {
  const int anchor = AnchorOf(problem);
  if (anchor < 0 || budget.ShouldStop()) return absl::nullopt;
  return PreferredAssignment(Anchored(problem, anchor), order, SweepsFor(problem), budget);
}

}  // namespace yuba::search
