// The price of a plan by marking elements one by one: slow, obvious, and with no code of the
// search, of box analysis or of transfers. What the tests compare the planner with.
#ifndef YUBA_TESTS_SUPPORT_MARKING_H_
#define YUBA_TESTS_SUPPORT_MARKING_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba {

// Bytes that node `node` under `node_cut` fetches of operand `operand`, or delivers (operand -1),
// where that tensor is stored as `tensor_cut` says.
int64_t MarkedBytes(const Graph& graph, const Mesh& mesh, NodeId node, int operand,
                    const Cut& node_cut, const Cut& tensor_cut);

// The same for many cuts of one definition: [node cut][tensor cut].
using MarkedTable = std::vector<std::vector<int64_t>>;
// What a pair of cuts costs that no plan has: an addend whose groups are not its reader's.
constexpr int64_t kNeverMarked = int64_t{1} << 50;
MarkedTable MarkedBytes(const Definition& definition, const Mesh& mesh, int operand,
                        const std::vector<Cut>& node_cuts, const std::vector<Cut>& tensor_cuts);

// Bytes that making a copy of a tensor takes: [tensor cut][copy's cut].
MarkedTable MarkedCopyBytes(const Mesh& mesh, const TensorType& type,
                            const std::vector<Cut>& tensor_cuts, const std::vector<Cut>& copy_cuts);

// Of all nodes and operands.
int64_t MarkedBytes(const Graph& graph, const Mesh& mesh, const std::vector<Cut>& tensors,
                    const std::vector<Cut>& nodes);

// Every legal cut, found by trying all lists of all axes: only the maximal ones, or all of them.
std::vector<Cut> TriedCuts(const Mesh& mesh, const std::vector<int64_t>& extents,
                           bool maximal = true);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_MARKING_H_
