// The checker's own cost tables: every choice of a tensor against every choice of a node that reads
// or writes it, counted from the boxes of all devices.
//
// Elements of the graph are its tensors, then its nodes.
#ifndef YUBA_SEARCH_CHECK_TABLES_H_
#define YUBA_SEARCH_CHECK_TABLES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/check/stop.h"
#include "search/plan/plan.h"

namespace yuba::search {

// How many elements of tensors the choices give the device that has most.
struct HeldElements {
  std::vector<int> sizes;  // by element: how many choices it has
  // [tensor][choice]: its shard. [node][operand][choice]: what it reads of the operand; behind the
  // operands, what it writes.
  std::vector<std::shared_ptr<const std::vector<int64_t>>> shards;
  std::vector<std::vector<std::shared_ptr<const std::vector<int64_t>>>> boxes;
};

// All choices of a plan's space with all costs.
struct CostTables : HeldElements {
  struct Use {
    int node = 0;                                      // element
    int tensor = 0;                                    // element
    std::shared_ptr<const std::vector<int64_t>> cost;  // [node choice][tensor choice]
  };
  std::vector<Use> uses;  // each node's result, then its operands
  // By node: what its kernel costs, [choice]; empty where the objective is bytes.
  std::vector<std::shared_ptr<const std::vector<int64_t>>> kernels;
  // By element, then [renaming of equal mesh axes][choice]: what the choice becomes; the first
  // renames nothing. No cost changes when all choices are renamed at once.
  std::vector<std::shared_ptr<const std::vector<std::vector<int>>>> renamed;
  // By element: its choices in lexicographic order of their axes.
  std::vector<std::shared_ptr<const std::vector<int>>> listed;
};

// Choices are those that meet the space's pins. An error where a tensor or node has none or too
// many to list, or a use too many costs.
absl::StatusOr<CostTables> MakeCostTables(const Graph& graph, const Mesh& mesh, const Space& space,
                                          const Stop& stop);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_TABLES_H_
