// The pairwise problem: variables with values, costs of one or of two variables, and rows of memory
// over time. It knows nothing of tensors; all solvers of this room work on it alone.
//
// Example: x and y have two values each, the factor {{x, y}, {5, 0, 2, 7}} costs 0 where x = 0 and
// y = 1. With a use of x of {10, 30} bytes during [0, 4) and a limit of 20, x = 1 is forbidden.
#ifndef YUBA_SEARCH_SOLVE_PAIRWISE_H_
#define YUBA_SEARCH_SOLVE_PAIRWISE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "search/plan/memory_price.h"

namespace yuba::search {

// The values of a variable: 0 .. size-1. A symmetry g of the problem maps the values of all
// variables at once, each to images[g][value], and leaves every cost as it is. All domains of a
// problem list the same symmetries in the same order, the identity first.
struct Domain {
  int size = 1;
  std::vector<std::vector<int>> images;
};
using DomainPtr = std::shared_ptr<const Domain>;

// A domain whose only symmetry is the identity.
DomainPtr PlainDomain(int size);

// Of the values that symmetries map to one another, an orbit, the least; of each orbit, ascending.
std::vector<int> OrbitRepresentatives(const Domain& domain);

using Cells = std::shared_ptr<const std::vector<int64_t>>;

// Costs by the class of the first variable's value and the class of the second's.
struct ClassTable {
  std::vector<int> row_of, column_of;  // [value]: its class, from 0 on
  int64_t begin = 0;    // of the cells, row-major [class][class], among those of the factor
  int64_t columns = 1;  // how many classes the second variable's values have
};
// Two tables that are added up. For solvers to be quick the values have few classes where they are
// the columns of the first table, and where they are the rows of the second. Example: 1,000 x 1,000
// values with 1,000 x 30 and 20 x 1,000 classes have 50,000 cells in place of 10^6.
using SumOfTables = std::array<ClassTable, 2>;

// A cost of the variables in `scope` (one or two, distinct): cells row-major in that order, in
// bytes or units, kForbidden or more where no solution has both values. Equal factors share their
// cells, which is how solvers see that work repeats.
struct Factor {
  std::vector<int> scope;
  Cells cells;
  // Null, or how the cells are read instead, of two variables. Factors with the same cells have the
  // same sum.
  std::shared_ptr<const SumOfTables> sum = nullptr;
};
// One cost of a factor of two variables, of which the second has `width` values.
int64_t CellOf(const Factor& factor, int64_t row, int64_t column, int64_t width);

// `variable` uses usage[value] bytes during the times [begin, end), which may be empty.
struct MemoryUse {
  int variable = 0;
  int64_t begin = 0, end = 0;
  Cells usage;
};

// A buffer that a transfer moves to, or from: where `factor` moves anything (IsMoved), usage[value]
// bytes are in use during [begin, end). `value` is that of the first variable of the scope, or of
// the last.
struct MemoryBuffer {
  int factor = 0;
  int64_t begin = 0, end = 0;
  Cells usage;
  bool first = false;  // whether `usage` is by value of the first variable
};

// One row for each point of time: all bytes in use at that time add up to no more than `limit`.
struct MemoryRows {
  std::vector<MemoryUse> uses;
  std::vector<MemoryBuffer> buffers;
  int64_t limit = std::numeric_limits<int64_t>::max();  // the default: no limit
  PriceScale scale;                                     // how prices on the rows count
};

struct PairwiseProblem {
  std::vector<DomainPtr> variables;
  std::vector<Factor> factors;  // of one or two variables
  MemoryRows memory;
};

// The problem without sums: all costs of two variables row-major; and how many cells it would have.
PairwiseProblem Whole(const PairwiseProblem& problem);
int64_t WholeCellsOf(const PairwiseProblem& problem);

// A cost that no solution has; a sum of costs that reaches it is forbidden too.
inline constexpr int64_t kForbidden = 1'000'000'000'000'000'000;

using Assignment = std::vector<int>;  // by variable

// The cost of all factors, at most kForbidden; of one factor.
int64_t CostOf(const PairwiseProblem& problem, const Assignment& assignment);
int64_t CostOf(const PairwiseProblem& problem, const Factor& factor, const Assignment& assignment);
// The bytes of the buffer; 0 where its factor costs nothing.
int64_t BytesOf(const PairwiseProblem& problem, const MemoryBuffer& buffer,
                const Assignment& assignment);
// The most bytes in use at any time, and the first such time to *time, if that is not null.
int64_t PeakOf(const PairwiseProblem& problem, const Assignment& assignment,
               int64_t* time = nullptr);
// The same without buffers: a lower bound of the peak of every assignment whose uses are no less.
int64_t UnmovedPeakOf(const PairwiseProblem& problem, const Assignment& assignment,
                      int64_t* time = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_PAIRWISE_H_
