// The memory of a graph's plans as rows over time: what each cut of a tensor or a node needs at
// least, and when.
#ifndef YUBA_SEARCH_MEMORY_ROWS_H_
#define YUBA_SEARCH_MEMORY_ROWS_H_

#include <cstdint>
#include <vector>

#include "opsemantics/graph.h"
#include "search/pairwise.h"
#include "search/problem.h"

namespace yuba {

// Rows of a problem without clusters, in bytes of the device that needs most, for programs that run
// the nodes in the graph's order. Node i fetches at 3i, computes at 3i+1, delivers at 3i+2.
// - Inputs, parameters, constants and outputs are there always; another tensor from the delivery
//   that makes it to the last fetch from it.
// - While node i computes, what it needs of a tensor that nothing reads later is there (as fetched
//   or as stored), what it needs of another where no shard can hold it, and what it makes.
// Each begins at a multiple of kSlotBytes. All of this is in every program of the plan. Buffers
// that exist only where a shard and a need differ are left out: they are no sum over variables. So
// the rows bound the true peak from below. Some are missing where the budget was spent before the
// end.
MemoryRows MemoryRowsOf(const Graph& graph, const Mesh& mesh, const Problem& problem, int64_t limit,
                        const Budget& budget = Budget::Unlimited());

// What is in use besides the rows while a node's use of a tensor moves something, by value of the
// node.
struct MemoryBuffer {
  int node = 0, operand = -1;  // -1: the delivery of its result
  int64_t time = 0;
  Cells usage;
};

// With buffers, as far as it can be said of one use alone: what is fetched, while it is and while
// the node computes; what is made, until it is delivered.
struct MemoryUsage {
  MemoryRows rows;
  std::vector<MemoryBuffer> buffers;
};
MemoryUsage MemoryUsageOf(const Graph& graph, const Mesh& mesh, const Problem& problem,
                          int64_t limit, const Budget& budget = Budget::Unlimited());

}  // namespace yuba

#endif  // YUBA_SEARCH_MEMORY_ROWS_H_
