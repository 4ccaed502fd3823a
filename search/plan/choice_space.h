// What may be cut of a tensor or of a node, and which shardings and partitions are legal.
//
// A ChoiceSpace lists the extents that there are. A choice is possible if it cuts only what can be
// cut; it is legal if it also goes as far as it can, so that nothing is replicated in silence.
// Example: f32[5, 1] on the mesh a=3 b=2 has the legal shardings [5/a, 1] and [5/b, 1]. Both axes
// together would make 6 parts of 5 elements, which is impossible; [5, 1] is possible but illegal,
// because either axis fits.
#ifndef YUBA_SEARCH_PLAN_CHOICE_SPACE_H_
#define YUBA_SEARCH_PLAN_CHOICE_SPACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice.h"

namespace yuba::search {

// The extents that a choice can cut: the flat dimensions of a tensor or the indices of a
// definition. An extent of n elements can be cut into P parts only if n >= P.
struct ChoiceSpace {
  std::vector<int64_t> extents;  // elements
  std::vector<bool> cuttable;    // [extent]: false where it must stay whole
  // false: a legal choice leaves an axis out only where the axis fits no extent. true: it may leave
  // out any axis, so that the tensor is replicated along it.
  bool optional = false;
};
// Of a stored tensor, and of a node that makes no copy: `optional` is false.
ChoiceSpace SpaceOfTensor(const TensorType& type);
ChoiceSpace SpaceOfNode(const Definition& definition);
// Of a tensor or node of a graph. Copies, the nodes that make them, and partials may leave axes
// out.
ChoiceSpace SpaceOfTensor(const Graph& graph, TensorId id);
ChoiceSpace SpaceOfNode(const Graph& graph, NodeId id);
// Of an element: the tensors, then the nodes.
ChoiceSpace SpaceOf(const Graph& graph, int element);

// The sharding of the partials that an accumulator node adds up, from the node's partition
// `accumulator`: the partition without its last index, which numbers the groups.
Sharding PartialsSharding(const Sharding& accumulator);
// Whether a node with the partition `reader` can read partials of this sharding inside their
// groups. Each combination of coordinates on the axes that the sharding leaves out is one group of
// devices. The axes that cut the reader's last index must be those of its axes that the sharding
// leaves out, and the sharding must use all other axes of the reader and no further ones.
bool KeepsGroups(const Sharding& partials, const Sharding& reader);
// Whether every choice that goes as far as it can is certain to use all axes of the mesh. Decided
// from the number of elements: an axis of f devices is left out only where each cuttable extent is
// below f times its number of parts. May be false where all choices do use all axes.
bool UsesAllAxes(const ChoiceSpace& space, const Mesh& mesh);

// The choice that uses no axis.
Choice WholeChoice(const ChoiceSpace& space);

// "" if the choice is possible: it cuts only what can be cut, into no more parts than there are
// elements, and uses each axis at most once. Else what is wrong with it, in words for the user.
std::string WhyImpossible(const ChoiceSpace& space, const Mesh& mesh, const Sharding& sharding);

// "" if the choice is legal: it is possible and, unless the space is `optional`, leaves out no axis
// that fits some extent. Else what is wrong with it, in words for the user.
std::string WhyIllegal(const ChoiceSpace& space, const Mesh& mesh, const Sharding& sharding);

// "" if the partition of the node goes with the shardings of what it reads and writes: a copy is
// sharded as its node is, partials as their accumulator or in its groups. Else what is wrong, in
// words for the user. `tensors`: by TensorId; all are possible, and so is the partition.
std::string WhyUnlikeTensors(const Graph& graph, NodeId id, const Choices& tensors,
                             const Sharding& partition);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_CHOICE_SPACE_H_
