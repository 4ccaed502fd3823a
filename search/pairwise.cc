#include "search/pairwise.h"

namespace yuba {

std::vector<int> OrbitRepresentatives(const Domain& domain) {
  std::vector<bool> reached(domain.size, false);
  std::vector<int> representatives;
  for (int value = 0; value < domain.size; ++value) {
    if (reached[value]) continue;
    representatives.push_back(value);
    for (const std::vector<int>& image : domain.images) reached[image[value]] = true;
  }
  return representatives;
}

int64_t CostOf(const PairwiseProblem& problem, const Assignment& assignment) {
  int64_t cost = 0;
  for (const Factor& factor : problem.factors) {
    size_t cell = 0;
    for (int v : factor.scope) cell = cell * problem.variables[v]->size + assignment[v];
    cost += (*factor.cells)[cell];
  }
  return cost;
}

}  // namespace yuba
