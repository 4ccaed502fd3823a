// Data parallelism: every device has all weights and its part of the batch. Where the batch has
// fewer elements than there are devices, the other axes cut whatever is cheapest.
#include <utility>

#include "search/baselines/baselines.h"
#include "search/baselines/batch.h"
#include "search/baselines/steps.h"

namespace yuba::search {

Choices DataParallel(const Graph& graph, const Mesh& mesh, int64_t table_cells,
                     const Budget& budget) {
  Restrictions restrictions = OnTheBatch(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (IsStoredBefore(tensor)) restrictions[t] = Whole(tensor.type.dims.size());
  }
  return CheapestWithin(graph, mesh, std::move(restrictions), table_cells, budget);
}

}  // namespace yuba::search
