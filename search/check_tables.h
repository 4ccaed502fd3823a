// The checker's own cost tables: every cut of a tensor against every cut of a node, from boxes.
#ifndef YUBA_SEARCH_CHECK_TABLES_H_
#define YUBA_SEARCH_CHECK_TABLES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/graph.h"
#include "opsemantics/placement.h"

namespace yuba {

// All maximal cuts of extents; `level`: the axes of one extent in the order of the mesh only.
std::vector<Cut> EveryCut(const Mesh& mesh, const std::vector<int64_t>& extents,
                          const std::vector<bool>& whole, bool level);
std::vector<Cut> EveryTensorCut(const Mesh& mesh, const TensorType& type, bool level);
std::vector<Cut> EveryNodeCut(const Mesh& mesh, const Definition& definition, bool level);

// [node cut][tensor cut], in bytes: what the node fetches of its operand, or delivers (operand -1).
std::vector<int64_t> EveryCost(const Mesh& mesh, const TensorType& type,
                               const std::vector<Cut>& tensor_cuts,
                               const std::vector<NodeBoxes>& node_cuts, int operand);

}  // namespace yuba

#endif  // YUBA_SEARCH_CHECK_TABLES_H_
