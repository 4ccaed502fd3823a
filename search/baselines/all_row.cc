// AllRow-Greedy of the Tofu paper (Wang, Huang, Li, EuroSys 2019, section 7.4): every tensor is cut
// on its first dimension, and each node takes the partition that is cheapest then.

#include "search/baselines/baselines.h"
#include "search/baselines/steps.h"

namespace yuba::search {

Restrictions AllRow(const Graph& graph, const Mesh& /*group*/) {
  Restrictions restrictions = Unrestricted(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (!IsTransient(graph.tensors[t])) restrictions[t] = OnFirstDimension(graph.tensors[t]);
  }
  return restrictions;
}

}  // namespace yuba::search
