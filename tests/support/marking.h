// The price of a plan by marking elements one by one: slow, obvious, and with no code of the search,
// of box analysis or of transfers. What the tests compare the planner with.
#ifndef YUBA_TESTS_SUPPORT_MARKING_H_
#define YUBA_TESTS_SUPPORT_MARKING_H_

#include <cstdint>
#include <vector>

#include "opsemantics/graph.h"
#include "opsemantics/placement.h"

namespace yuba {

// Bytes that node `node` under `node_cut` fetches of operand `operand`, or delivers (operand -1),
// where that tensor is stored as `tensor_cut` says.
int64_t MarkedBytes(const Graph& graph, const Mesh& mesh, NodeId node, int operand,
                    const Cut& node_cut, const Cut& tensor_cut);

// Of all nodes and operands.
int64_t MarkedBytes(const Graph& graph, const Mesh& mesh, const std::vector<Cut>& tensors,
                    const std::vector<Cut>& nodes);

// Every legal and maximal cut, found by trying all lists of all axes.
std::vector<Cut> TriedCuts(const Mesh& mesh, const std::vector<int64_t>& extents);

// The least bytes of any plan, by trying all combinations of the nodes' cuts; -1 if there are more
// than `limit` of them.
int64_t LeastMarkedBytes(const Graph& graph, const Mesh& mesh, int64_t limit);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_MARKING_H_
