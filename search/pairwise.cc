#include "search/pairwise.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace yuba {

DomainPtr PlainDomain(int size) {
  std::vector<int> identity(size);
  std::iota(identity.begin(), identity.end(), 0);
  return std::make_shared<const Domain>(Domain{size, {std::move(identity)}});
}

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
    cost = std::min(kForbidden, cost + (*factor.cells)[cell]);
  }
  return cost;
}

int64_t PeakOf(const PairwiseProblem& problem, const Assignment& assignment, int64_t* time) {
  std::map<int64_t, int64_t> change;  // by time
  for (const MemoryUse& use : problem.memory.uses) {
    if (use.begin >= use.end) continue;
    int64_t usage = (*use.usage)[assignment[use.variable]];
    change[use.begin] += usage;
    change[use.end] -= usage;
  }
  int64_t load = 0, peak = 0;
  for (const auto& [at, by] : change) {
    load += by;
    if (load <= peak) continue;
    peak = load;
    if (time != nullptr) *time = at;
  }
  return peak;
}

}  // namespace yuba
