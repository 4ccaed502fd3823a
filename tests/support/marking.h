// The price of a plan by marking elements one by one: slow, obvious, and with no code of the
// search, of box analysis or of transfers. Tests compare the planner with it, and the enumeration
// of enumeration.h takes its prices from here. Prices are bytes that move between devices in one
// step. For tensors of at most some thousand elements: the time grows with elements times devices.
#ifndef YUBA_TESTS_SUPPORT_MARKING_H_
#define YUBA_TESTS_SUPPORT_MARKING_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/moved.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba {

// Bytes that node `node` under `partition` gathers of operand `operand`, or reduces (operand -1),
// where that tensor is stored as `sharding` says.
int64_t MarkedBytes(const Graph& graph, const Mesh& mesh, NodeId node, int operand,
                    const Sharding& partition, const Sharding& sharding);

// Such bytes for many partitions of one definition and many shardings of one of its tensors:
// [partition][sharding].
using MarkedTable = std::vector<std::vector<int64_t>>;
// The price of a pair that no plan can have: partials whose groups are not those of their reader.
constexpr int64_t kNeverMarked = int64_t{1} << 50;
MarkedTable MarkedBytes(const Definition& definition, const Mesh& mesh, int operand,
                        const std::vector<Sharding>& partitions,
                        const std::vector<Sharding>& shardings);

// Bytes that move to make a copy of a tensor: [sharding][sharding of the copy].
MarkedTable MarkedCopyBytes(const Mesh& mesh, const TensorType& type,
                            const std::vector<Sharding>& shardings,
                            const std::vector<Sharding>& copy_shardings);

// [device]: what it receives in one use (opsemantics/sharding/moved.h), told element by element.
// Devices that differ on axes of greater kinds are further apart; the nearest of them that have an
// element give it, of equals the one with the lowest number. Where partials of an element come to
// several owners, these share out the work and give each other the results. Not of tensors that
// hold partials which stay unreduced.
std::vector<Moved> MarkedMoved(const Definition& definition, const Mesh& mesh, int operand,
                               const Sharding& partition, const Sharding& sharding);
// The same of a copy that is made of a tensor.
std::vector<Moved> MarkedCopyMoved(const Mesh& mesh, const TensorType& type,
                                   const Sharding& sharding, const Sharding& copy_sharding);

// Bytes of a whole plan: the sum over all nodes, their operands and results. `tensors` is by
// tensor, `nodes` (their partitions) by node.
int64_t MarkedBytes(const Graph& graph, const Mesh& mesh, const std::vector<Sharding>& tensors,
                    const std::vector<Sharding>& nodes);

// The shardings of choices (search/plan/choice.h), which this room doesn't know.
template <typename Choice>
std::vector<Sharding> ShardingsOf(const std::vector<Choice>& choices) {
  return {choices.begin(), choices.end()};
}

// Every legal sharding of a tensor with these extents, or partition of a node whose indices have
// them, found by trying all lists of all axes. With `maximal` only those to which no axis could be
// added.
std::vector<Sharding> TriedChoices(const Mesh& mesh, const std::vector<int64_t>& extents,
                                   bool maximal = true);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_MARKING_H_
