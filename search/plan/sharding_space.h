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
struct CutSpace {
  std::vector<int64_t> extents;
  std::vector<bool> cuttable;
  bool optional = false;
};
CutSpace TensorCuts(const TensorType& type);
CutSpace NodeCuts(const Definition& definition);
// Of tensor or node number `id` of a graph: copies may be replicated.
CutSpace TensorCuts(const Graph& graph, TensorId id);
CutSpace NodeCuts(const Graph& graph, NodeId id);

// The cut of an accumulator's addends: its own without its groups.
Cut AddendCut(const Cut& accumulator);
// Whether the groups of an addend, one for each part of the axes that its cut leaves out, are those
// of the node that reads it: the same axes cut the last of the node's indices.
bool KeepsGroups(const Cut& addend, const Cut& reader);
// Whether every cut that goes as far as it can uses all axes. An axis of f devices is left out only
// where all extents are below f times their parts.
bool UsesAllAxes(const CutSpace& space, const Mesh& mesh);

// The cut that uses no axis.
Cut WholeCut(const CutSpace& space);

// "" if `cut` cuts only what can be cut, each axis used at most once, else what is wrong with it.
std::string WhyImpossible(const CutSpace& space, const Mesh& mesh, const Cut& cut);

// The same, and besides no axis may be left out that fits somewhere, unless that is optional.
std::string WhyIllegal(const CutSpace& space, const Mesh& mesh, const Cut& cut);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_SHARDING_SPACE_H_
