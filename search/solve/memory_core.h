// A pairwise problem with memory, made smaller without loss: values that arc consistency forbids
// are dropped, and a variable whose value follows from a neighbour's becomes part of that
// neighbour.
#ifndef YUBA_SEARCH_SOLVE_MEMORY_CORE_H_
#define YUBA_SEARCH_SOLVE_MEMORY_CORE_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

struct CoreEdge {
  int a = 0, b = 0;  // a < b; at most one edge a pair
  Cells cells;       // row-major, a first; kForbidden at most; equal edges may share them

  int64_t at(int64_t cell) const { return (*cells)[cell]; }
};

// Usage by value in the rows [begin, end).
struct CoreUse {
  int begin = 0, end = 0;
  std::vector<int64_t> usage;
};

// Usage in the rows [begin, end) by cell of an edge, least usage 0; equal ones may share it.
struct CoreBuffer {
  int edge = 0;
  int begin = 0, end = 0;
  Cells usage;
};

// Variables have at least one value, each of them possible at every edge. Rows are the points of
// time that may exceed the limit and are not dominated by another.
struct MemoryCore {
  std::vector<std::vector<int64_t>> costs;  // by variable and value
  std::vector<CoreEdge> edges;
  std::vector<std::vector<int>> edges_of;  // by variable
  std::vector<std::vector<CoreUse>> uses;  // by variable: ascending, disjoint, least usage 0
  std::vector<CoreBuffer> buffers;
  std::vector<std::vector<int>> buffers_of;  // by edge
  std::vector<int64_t> room;                 // by row: what is left to the uses above
  std::vector<int64_t> row_time;             // by row: its point of time
  int64_t constant = 0;
  int64_t least_peak = 0;  // no assignment needs less memory

  // By variable of the problem: its variable here (-1: it has one value), its value for each of its
  // variable's values.
  std::vector<int> root;
  std::vector<std::vector<int>> value;
  std::vector<int> own;  // by variable: that of the problem which the others follow

  int size() const { return static_cast<int>(costs.size()); }
  int values(int v) const { return static_cast<int>(costs[v].size()); }
  Assignment Expand(const Assignment& core) const;
  // The other way: what follows takes the value that does. A value that the core lacks becomes 0.
  Assignment Reduce(const Assignment& assignment) const;
};

// Of variables with one neighbour whose usage is the same for all values:
enum class Leaves {
  kCheapest,  // the cheapest value for each of the neighbour's; they become part of it, but for
              // those whose buffers may differ
  kAll,       // every value: what no row counts may tell them apart
};

// Nothing where every assignment is forbidden.
absl::optional<MemoryCore> MakeCore(const PairwiseProblem& problem,
                                    Leaves leaves = Leaves::kCheapest);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MEMORY_CORE_H_
