// The checker's own lower bounds of transfers between grids: into how many parts a tensor and a
// node are cut, whatever mesh axes cut them.
#ifndef YUBA_SEARCH_CHECK_RELAXED_H_
#define YUBA_SEARCH_CHECK_RELAXED_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// By node: the first one that has the same cuts at the same costs. Both compute the same, and what
// they read and make may be cut alike.
std::vector<size_t> FirstAlike(const Graph& graph);

struct RelaxedTables {
  struct Use {
    int node = 0, tensor = 0;                          // ids
    std::shared_ptr<const std::vector<int64_t>> cost;  // [node grid][tensor grid], bytes
  };
  std::vector<Use> uses;            // each node's result, then its operands
  std::vector<int> tensors, nodes;  // by id: how many grids, in lexicographic order of the parts
};

// The bounds are those of overlap.h. `replicate`: axes of any tensor's grid may be left out.
RelaxedTables MakeRelaxedTables(const Graph& graph, const Mesh& mesh, bool replicate);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_RELAXED_H_
