// What may be cut of a tensor or of a node, and which cuts are legal.
#ifndef YUBA_SEARCH_PLAN_SHARDING_SPACE_H_
#define YUBA_SEARCH_PLAN_SHARDING_SPACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// What there is to cut: the flat dimensions of a tensor or the indices of a definition. An extent
// of n can be cut into P parts only if n >= P; `cuttable` is false where an index must stay whole.
// An axis is left out only where it fits nowhere, or with `optional` wherever one likes.
struct ChoiceSpace {
  std::vector<int64_t> extents;
  std::vector<bool> cuttable;
  bool optional = false;
};
ChoiceSpace SpaceOfTensor(const TensorType& type);
ChoiceSpace SpaceOfNode(const Definition& definition);
// Of tensor or node number `id` of a graph: copies may be replicated.
ChoiceSpace SpaceOfTensor(const Graph& graph, TensorId id);
ChoiceSpace SpaceOfNode(const Graph& graph, NodeId id);

// The sharding of an accumulator's partials: its own without its groups.
Sharding PartialsSharding(const Sharding& accumulator);
// Whether the groups of partials, one for each part of the axes that its sharding leaves out, are
// those of the node that reads it: the same axes cut the last of the node's indices.
bool KeepsGroups(const Sharding& partials, const Sharding& reader);
// Whether every cut that goes as far as it can uses all axes. An axis of f devices is left out only
// where all extents are below f times their parts.
bool UsesAllAxes(const ChoiceSpace& space, const Mesh& mesh);

// The sharding that uses no axis.
Sharding WholeChoice(const ChoiceSpace& space);

// "" if `cut` cuts only what can be cut, each axis used at most once, else what is wrong with it.
std::string WhyImpossible(const ChoiceSpace& space, const Mesh& mesh, const Sharding& sharding);

// The same, and besides no axis may be left out that fits somewhere, unless that is optional.
std::string WhyIllegal(const ChoiceSpace& space, const Mesh& mesh, const Sharding& sharding);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_SHARDING_SPACE_H_
