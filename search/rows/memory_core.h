// A pairwise problem with rows of memory, made smaller without loss: the core. Values that have
// only forbidden pairs with a neighbour are dropped (arc consistency), a variable whose value
// follows from a neighbour's becomes part of that neighbour, and rows that cannot exceed the limit
// are dropped. The prices and searches of this room work on cores.
#ifndef YUBA_SEARCH_ROWS_MEMORY_CORE_H_
#define YUBA_SEARCH_ROWS_MEMORY_CORE_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/pairwise.h"
#include "search/solve/timeline.h"

namespace yuba::search {

struct CoreEdge {
  int a = 0, b = 0;  // a < b; at most one edge a pair
  Cells cells;       // row-major, a first; kForbidden at most; equal edges may share them

  int64_t at(int64_t cell) const { return (*cells)[cell]; }
};

// Bytes by value of the variable, in use in the rows [begin, end).
struct CoreUse {
  int begin = 0, end = 0;
  std::vector<int64_t> usage;
};

// Bytes by cell of an edge, in use in the rows [begin, end). The least is 0. Equal buffers may
// share `usage`.
struct CoreBuffer {
  int edge = 0;
  int begin = 0, end = 0;
  Cells usage;
};

// Each value of a variable is allowed with some value of every neighbour. Rows are the points of
// time that may exceed the limit and that no other row implies.
struct MemoryCore {
  std::vector<std::vector<int64_t>> costs;  // [variable][value]
  std::vector<CoreEdge> edges;
  std::vector<std::vector<int>> edges_of;  // by variable
  std::vector<std::vector<CoreUse>> uses;  // by variable: ascending, disjoint, least usage 0
  std::vector<CoreBuffer> buffers;
  std::vector<std::vector<int>> buffers_of;  // by edge
  std::vector<int64_t> room;                 // by row: bytes that the uses above may take
  Timeline times;                            // of the rows
  int64_t constant = 0;                      // to be added to all costs
  int64_t least_peak = 0;                    // bytes: no assignment has a lower peak
  PriceScale scale;                          // how prices on the rows count

  // By variable of the problem: its variable in the core (-1: it has one value), and its value for
  // each value of that.
  std::vector<int> root;
  std::vector<std::vector<int>> value;
  std::vector<int> own;  // by variable: the one of the problem that others of it follow

  // By row: what a byte in use there costs at these prices, in bytes moved.
  std::vector<double> PricesByRow(const std::vector<MemoryPrice>& prices) const {
    return times.PricesByRow(prices, 1, scale.units);
  }
  int size() const { return static_cast<int>(costs.size()); }
  int values(int v) const { return static_cast<int>(costs[v].size()); }
  // The assignment of the problem for one of the core.
  Assignment Expand(const Assignment& core) const;
  // The other way: variables that follow others lose their own values. A value that was dropped
  // becomes 0.
  Assignment Reduce(const Assignment& assignment) const;
};

// What becomes of a variable with one neighbour whose usage is the same for all values.
enum class Leaves {
  kCheapest,  // it takes the cheapest value for each value of the neighbour and becomes part of it,
              // unless its buffers may differ
  kAll,       // it keeps every value: programs may differ where rows do not
};

// The core of a problem; nothing where every assignment is forbidden.
absl::optional<MemoryCore> MakeCore(const PairwiseProblem& problem,
                                    Leaves leaves = Leaves::kCheapest);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_MEMORY_CORE_H_
