// The checker's own relaxation to grids: for each use of a tensor by a node a lower bound of the
// bytes moved, by their grids (search/plan/grid.h). It is computed from numbers of parts
// (overlap.h), so it is small where tables of choices are not: on 1,024 devices a matmul has 286
// grids.
#ifndef YUBA_SEARCH_CHECK_RELAXED_H_
#define YUBA_SEARCH_CHECK_RELAXED_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/check/stop.h"
#include "search/check/use_table.h"
#include "search/plan/plan.h"

namespace yuba::search {

struct RelaxedTables {
  struct Use {
    int node = 0, tensor = 0;  // ids
    std::shared_ptr<const UseTable> cost;
    // The node makes a copy, which is cut as the node is: equal grids cost nothing, others never
    // meet, and there is no table. Both have the same grids.
    bool alike = false;
  };
  std::vector<Use> uses;  // each node's result, then its operands
  // By node, and its grid: what its kernel costs; empty where the objective is bytes.
  std::vector<std::shared_ptr<const std::vector<int64_t>>> kernels;
  std::vector<int> tensors, nodes;  // by id: how many grids; they are in lexicographic order
};

// The tables of all uses; equal uses share theirs. Grids are those that may meet the space's pins;
// where it replicates, axes of any tensor's grid may be left out. Pairs of grids that no plan has
// cost kNever; but of a copy and its node only with `alike_copies`. An error where a pin leaves an
// element no grid.
absl::StatusOr<RelaxedTables> MakeRelaxedTables(const Graph& graph, const Mesh& mesh,
                                                const Space& space, bool alike_copies = false,
                                                const Stop& stop = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_RELAXED_H_
