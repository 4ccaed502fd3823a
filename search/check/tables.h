// The checker's own cost tables, from boxes: every cut of a tensor against every cut of a node that
// reads or makes it.
#ifndef YUBA_SEARCH_CHECK_TABLES_H_
#define YUBA_SEARCH_CHECK_TABLES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/plan/plan.h"

namespace yuba::search {

// What cuts make devices hold, in elements, on the device that has most. Elements of the graph are
// the tensors, then the nodes.
struct HeldElements {
  std::vector<int> sizes;  // by element: how many cuts it has
  // By tensor and cut its shard; by node and cut what is needed of each operand, and last what is
  // made.
  std::vector<std::shared_ptr<const std::vector<int64_t>>> shards;
  std::vector<std::vector<std::shared_ptr<const std::vector<int64_t>>>> boxes;
};

// The plan space of a graph with all its costs.
struct CostTables : HeldElements {
  struct Use {
    int node = 0;                                      // element
    int tensor = 0;                                    // element
    std::shared_ptr<const std::vector<int64_t>> cost;  // [node cut][tensor cut], bytes
  };
  std::vector<Use> uses;  // each node's result, then its operands
  // By element, then by renaming of equal mesh axes (no renaming first): what each choice becomes.
  // No cost changes when all cuts are renamed.
  std::vector<std::shared_ptr<const std::vector<std::vector<int>>>> renamed;
  // By element and cut: the grid of the choice. Grids (into how many parts each dimension or index
  // is cut) are numbered in lexicographic order.
  std::vector<std::shared_ptr<const std::vector<int>>> grids;
  // By element: its choices in the lexicographic order of their lists of axes.
  std::vector<std::shared_ptr<const std::vector<int>>> listed;
};

// By element: whether cuts of a grid are to be listed, of all grids in lexicographic order.
using GridsToKeep = std::vector<std::vector<bool>>;

// An error where a tensor or node has too many choices to list. With `keep`, cuts are left out
// whose grids no element of equal cuts keeps.
absl::StatusOr<CostTables> MakeCostTables(const Graph& graph, const Mesh& mesh, const Space& space,
                                          const GridsToKeep* keep = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_TABLES_H_
