// Layers cut along dimensions of their outputs only (Jia, Lin, Qi, Aiken, "Exploring hidden
// dimensions in parallelizing convolutional neural networks", ICML 2018), the best of these plans:
// no reduction index is cut, so there are no partials. Only where a node has too few output
// elements for all devices are its reduction indices cut too.

#include "search/baselines/baselines.h"
#include "search/baselines/steps.h"

namespace yuba::search {

Restrictions Icml18(const Graph& graph, const Mesh& /*group*/) {
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
  return restrictions;
}

}  // namespace yuba::search
