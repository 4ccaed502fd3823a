// AllRow-Greedy of the Tofu paper (Wang, Huang, Li, EuroSys 2019, section 7.4): every tensor is cut
// on its first dimension, and each node takes the partition that is cheapest then.
#include <utility>

#include "search/baselines/baselines.h"
#include "search/baselines/steps.h"

namespace yuba::search {

Choices AllRow(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget) {
  Restrictions restrictions = Unrestricted(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (!IsTransient(graph.tensors[t])) restrictions[t] = OnFirstDimension(graph.tensors[t]);
  }
  return CheapestWithin(graph, mesh, std::move(restrictions), table_cells, budget);
}

}  // namespace yuba::search
