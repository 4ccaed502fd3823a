#include "search/proof_cases.h"

#include <algorithm>

#include "opsemantics/base/check.h"

namespace yuba {

void AddSplits(const Graph& graph, const SplitPlaces& places, CasesOptions* options) {
  const auto apart = [&](TensorId t) { return graph.tensors[t].kind != TensorKind::kAddend; };
  for (TensorId t = 0; t < static_cast<int>(graph.tensors.size()); ++t) {
    if (apart(t)) options->variables.push_back(places.variables[t]);
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (IsCopy(graph, node)) continue;
    for (size_t use = 0; use < places.factors[n].size(); ++use) {
      const int factor = places.factors[n][use];
      const TensorId t = use == 0 ? node.result : node.operands[use - 1];
      if (factor >= 0 && apart(t)) options->factors.push_back(factor);
    }
  }
  std::sort(options->variables.begin(), options->variables.end());
  std::sort(options->factors.begin(), options->factors.end());
}

ProofCase InProof(const MemoryCase& here, const SplitPlaces& places) {
  ProofCase made;
  made.bytes = here.split.bytes;
  made.prices = here.prices;
  if (here.split.variable >= 0) made.tensor = places.elements[here.split.variable];
  for (size_t n = 0; n < places.factors.size() && here.split.factor >= 0; ++n) {
    const std::vector<int>& uses = places.factors[n];
    const auto use = std::find(uses.begin(), uses.end(), here.split.factor);
    if (use == uses.end()) continue;
    made.node = static_cast<NodeId>(n);
    made.use = static_cast<int>(use - uses.begin());
  }
  YUBA_CHECK(here.split.empty() || made.tensor >= 0 || made.node >= 0);
  return made;
}

}  // namespace yuba
