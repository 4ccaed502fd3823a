// The price of a plan by marking elements one by one: slow, obvious, and with no code of the
// search, of box analysis or of transfers. What the tests compare the planner with.
#ifndef YUBA_TESTS_SUPPORT_MARKING_H_
#define YUBA_TESTS_SUPPORT_MARKING_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba {

// Bytes that node `node` under `node_cut` gathers of operand `operand`, or reduces (operand -1),
// where that tensor is stored as `tensor_cut` says.
int64_t MarkedBytes(const Graph& graph, const Mesh& mesh, NodeId node, int operand,
                    const Sharding& partition, const Sharding& sharding);

// The same for many shardings of one definition: [node cut][tensor cut].
using MarkedTable = std::vector<std::vector<int64_t>>;
// What a pair of shardings costs that no plan has: partials whose groups are not its reader's.
constexpr int64_t kNeverMarked = int64_t{1} << 50;
MarkedTable MarkedBytes(const Definition& definition, const Mesh& mesh, int operand,
                        const std::vector<Sharding>& partitions,
                        const std::vector<Sharding>& shardings);

// Bytes that making a copy of a tensor takes: [tensor cut][copy's cut].
MarkedTable MarkedCopyBytes(const Mesh& mesh, const TensorType& type,
                            const std::vector<Sharding>& shardings,
                            const std::vector<Sharding>& copy_cuts);

// Of all nodes and operands.
int64_t MarkedBytes(const Graph& graph, const Mesh& mesh, const std::vector<Sharding>& tensors,
                    const std::vector<Sharding>& nodes);

// Every legal sharding, found by trying all lists of all axes: only the maximal ones, or all of
// them.
std::vector<Sharding> TriedChoices(const Mesh& mesh, const std::vector<int64_t>& extents,
                                   bool maximal = true);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_MARKING_H_
