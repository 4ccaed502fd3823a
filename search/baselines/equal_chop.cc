// EqualChop of the Tofu paper (Wang, Huang, Li, EuroSys 2019, section 7.4): every tensor is cut on
// one dimension only and every node on one index, the best of these plans.
#include <algorithm>

#include "search/baselines/baselines.h"
#include "search/baselines/steps.h"

namespace yuba::search {
namespace {

// All axes on one extent: any that is long enough for all devices, or, where none is, the longest.
Restriction OnOneExtent(const ChoiceSpace& space, int devices) {
  int64_t longest = 0;
  for (size_t e = 0; e < space.extents.size(); ++e) {
    if (space.cuttable[e]) longest = std::max(longest, space.extents[e]);
  }
  Restriction restriction;
  restriction.rest = Rest::kElsewhere;
  for (size_t e = 0; e < space.extents.size(); ++e) {
    if (!space.cuttable[e] || space.extents[e] < std::min<int64_t>(devices, longest)) continue;
    restriction.any_of.push_back(OnlyExtent(space.extents.size(), e));
  }
  return restriction;
}

}  // namespace

Restrictions EqualChop(const Graph& graph, const Mesh& group) {
  Restrictions restrictions = Unrestricted(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (IsTransient(graph.tensors[t])) continue;
    restrictions[t] = OnOneExtent(SpaceOfTensor(graph.tensors[t].type), group.devices());
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (IsCopy(graph, node) || IsAccumulator(node)) continue;
    restrictions[graph.tensors.size() + n] =
        OnOneExtent(SpaceOfNode(*node.definition), group.devices());
  }
  return restrictions;
}

}  // namespace yuba::search
