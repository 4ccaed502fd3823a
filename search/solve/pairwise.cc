#include "search/solve/pairwise.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace yuba::search {

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
    cost = std::min(kForbidden, cost + CostOf(problem, factor, assignment));
  }
  return cost;
}

int64_t CostOf(const PairwiseProblem& problem, const Factor& factor, const Assignment& assignment) {
  size_t cell = 0;
  for (int v : factor.scope) cell = cell * problem.variables[v]->size + assignment[v];
  return (*factor.cells)[cell];
}

int64_t BytesOf(const PairwiseProblem& problem, const MemoryBuffer& buffer,
                const Assignment& assignment) {
  const Factor& factor = problem.factors[buffer.factor];
  if (CostOf(problem, factor, assignment) == 0) return 0;
  return (*buffer.usage)[assignment[buffer.first ? factor.scope[0] : factor.scope.back()]];
}

namespace {

class Profile {
 public:
  void Add(int64_t begin, int64_t end, int64_t usage) {
    if (begin >= end) return;
    change_[begin] += usage;
    change_[end] -= usage;
  }

  std::map<int64_t, int64_t> Loads() const {
    std::map<int64_t, int64_t> loads = change_;
    int64_t load = 0;
    for (auto& [at, here] : loads) here = load += here;
    return loads;
  }

  // The greatest load, and the first such time to *time, if that is not null.
  int64_t Peak(int64_t* time) const {
    int64_t peak = 0;
    for (const auto& [at, load] : Loads()) {
      if (load <= peak) continue;
      peak = load;
      if (time != nullptr) *time = at;
    }
    return peak;
  }

 private:
  std::map<int64_t, int64_t> change_;  // by time
};

Profile UnmovedProfile(const PairwiseProblem& problem, const Assignment& assignment) {
  Profile profile;
  for (const MemoryUse& use : problem.memory.uses) {
    profile.Add(use.begin, use.end, (*use.usage)[assignment[use.variable]]);
  }
  return profile;
}

Profile WholeProfile(const PairwiseProblem& problem, const Assignment& assignment) {
  Profile profile = UnmovedProfile(problem, assignment);
  for (const MemoryBuffer& buffer : problem.memory.buffers) {
    profile.Add(buffer.begin, buffer.end, BytesOf(problem, buffer, assignment));
  }
  return profile;
}

}  // namespace

std::map<int64_t, int64_t> LoadsOf(const PairwiseProblem& problem, const Assignment& assignment) {
  return WholeProfile(problem, assignment).Loads();
}

int64_t PeakOf(const PairwiseProblem& problem, const Assignment& assignment, int64_t* time) {
  return WholeProfile(problem, assignment).Peak(time);
}

int64_t UnmovedPeakOf(const PairwiseProblem& problem, const Assignment& assignment, int64_t* time) {
  return UnmovedProfile(problem, assignment).Peak(time);
}

}  // namespace yuba::search
