// The pairwise problem: variables with domains, costs of one or of two variables, and rows of
// memory over time. It knows nothing of tensors; the solvers work on it alone.
#ifndef YUBA_SEARCH_SOLVE_PAIRWISE_H_
#define YUBA_SEARCH_SOLVE_PAIRWISE_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

namespace yuba::search {

// The values of a variable are 0 .. size-1. A symmetry of the problem maps the values of all
// variables at once and leaves every cost as it is: images[g][value]. The identity comes first.
struct Domain {
  int size = 1;
  std::vector<std::vector<int>> images;
};
using DomainPtr = std::shared_ptr<const Domain>;

// Without symmetries.
DomainPtr PlainDomain(int size);

// The least value of each orbit, ascending.
std::vector<int> OrbitRepresentatives(const Domain& domain);

using Cells = std::shared_ptr<const std::vector<int64_t>>;

// A cost of the variables in `scope` (distinct), row-major in that order. Factors that are equal
// share their cells, which is how solvers see that work repeats.
struct Factor {
  std::vector<int> scope;
  Cells cells;
};

// `variable` uses usage[value] during [begin, end); nothing where that is empty.
struct MemoryUse {
  int variable = 0;
  int64_t begin = 0, end = 0;
  Cells usage;
};

// While `factor` costs anything, a variable of its scope uses usage[value] during [begin, end):
// what a transfer moves to, or from.
struct MemoryBuffer {
  int factor = 0;
  int64_t begin = 0, end = 0;
  Cells usage;
  bool first = false;  // of two variables that one, not the last
};

// One row for each point of time: what is in use there stays within the limit.
struct MemoryRows {
  std::vector<MemoryUse> uses;
  std::vector<MemoryBuffer> buffers;
  int64_t limit = std::numeric_limits<int64_t>::max();  // then there are no rows
};

struct PairwiseProblem {
  std::vector<DomainPtr> variables;
  std::vector<Factor> factors;  // of one or two variables
  MemoryRows memory;
};

// A cost that is forbidden; what adds up to more is forbidden too.
inline constexpr int64_t kForbidden = 1'000'000'000'000'000'000;

using Assignment = std::vector<int>;  // by variable

int64_t CostOf(const PairwiseProblem& problem, const Assignment& assignment);
int64_t CostOf(const PairwiseProblem& problem, const Factor& factor, const Assignment& assignment);
// What the buffer takes in its time, if it is there.
int64_t BytesOf(const PairwiseProblem& problem, const MemoryBuffer& buffer,
                const Assignment& assignment);
// What is in use from each time on at which that changes.
std::map<int64_t, int64_t> LoadsOf(const PairwiseProblem& problem, const Assignment& assignment);
// The most memory in use at any time, and the first such time to *time.
int64_t PeakOf(const PairwiseProblem& problem, const Assignment& assignment,
               int64_t* time = nullptr);
// The same without buffers: no assignment of no less usages needs less.
int64_t UnmovedPeakOf(const PairwiseProblem& problem, const Assignment& assignment,
                      int64_t* time = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_PAIRWISE_H_
