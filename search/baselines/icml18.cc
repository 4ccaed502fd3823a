// Layers cut along dimensions of their outputs only (Jia, Lin, Qi, Aiken, "Exploring hidden
// dimensions in parallelizing convolutional neural networks", ICML 2018), the best there is: no
// reduction is cut, so there are no partial sums. Reductions to too few elements are cut all the
// same where nothing else can be.
#include <utility>

#include "search/baselines/baselines.h"
#include "search/baselines/steps.h"

namespace yuba::search {

Choices Icml18(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget) {
  Restrictions restrictions = Unrestricted(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    std::vector<bool> outputs;
    bool reduces = false;
    for (const Index& index : graph.nodes[n].definition->indices) {
      outputs.push_back(!index.reduction);
      reduces |= index.reduction;
    }
    if (reduces) restrictions[graph.tensors.size() + n] = Along(outputs);
  }
  return CheapestWithin(graph, mesh, std::move(restrictions), table_cells, budget);
}

}  // namespace yuba::search
