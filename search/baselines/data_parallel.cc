// Data parallelism: every device has all weights and its part of the batch. Where the batch has
// fewer elements than there are devices, the other axes cut whatever is cheapest.
//
// In a training step each device sums the gradients over its part of the batch, and all-reduces
// them: a reduce-scatter, then the update of the part that it has of each weight, and an all-gather
// of the updated weights. So the optimizer's states are shared out, as ZeRO-1 does, and the
// gradients, as ZeRO-2 does, which moves the same bytes (Rajbhandari et al., SC 2020, section 7.1).
#include <utility>

#include "search/baselines/baselines.h"
#include "search/baselines/batch.h"
#include "search/baselines/steps.h"

namespace yuba::search {

Choices DataParallel(const Graph& graph, const Mesh& mesh, int64_t table_cells,
                     const Budget& budget) {
  Restrictions restrictions = OnTheBatch(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (IsStoredBefore(graph, static_cast<TensorId>(t)))
      restrictions[t] = Whole(graph.tensors[t].type.dims.size());
  }
  return CheapestWithin(graph, mesh, std::move(restrictions), table_cells, budget);
}

std::string OfDataParallel(const Graph& graph, const Mesh& mesh, bool moves_weights) {
  const std::string trains =
      Trains(graph) ? "gradients and the optimizer's states are shared out, which moves the same "
                      "bytes as an all-reduce of the gradients (ZeRO-1 and ZeRO-2)"
                    : "in training it adds an all-reduce of the gradients (--train)";
  return Joined({WhyNotFilled(graph, mesh), moves_weights ? WhyWeightsMove(graph) : "", trains});
}

}  // namespace yuba::search
