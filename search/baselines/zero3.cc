// ZeRO stage 3 (Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
// models", SC 2020): data parallelism with every weight cut over all devices and gathered where it
// is used.
#include <utility>

#include "search/baselines/baselines.h"
#include "search/baselines/batch.h"
#include "search/baselines/steps.h"

namespace yuba::search {

Choices Zero3(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget) {
  Restrictions restrictions = OnTheBatch(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (IsStoredBefore(graph.tensors[t])) restrictions[t] = OnFirstDimension(graph.tensors[t]);
  }
  return CheapestWithin(graph, mesh, std::move(restrictions), table_cells, budget);
}

}  // namespace yuba::search
