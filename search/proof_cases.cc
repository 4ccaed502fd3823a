#include "search/proof_cases.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "opsemantics/base/check.h"

namespace yuba {
namespace {

// The node and its use whose factor that is.
std::pair<NodeId, int> UseOf(int factor, const SplitPlaces& places) {
  for (size_t n = 0; n < places.factors.size(); ++n) {
    const std::vector<int>& uses = places.factors[n];
    const auto use = std::find(uses.begin(), uses.end(), factor);
    if (use != uses.end()) return {static_cast<NodeId>(n), static_cast<int>(use - uses.begin())};
  }
  YUBA_CHECK(false) << "no use has factor " << factor;
  return {};
}

}  // namespace

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

void AddCases(const std::vector<MemoryCase>& cases, const SplitPlaces& places, Proof* proof) {
  if (cases.size() == 1 && !cases[0].prices.empty()) {
    proof->prices = cases[0].prices;
    proof->messages = cases[0].messages;
    return;
  }
  for (const MemoryCase& here : cases) {
    ProofCase made;
    made.bytes = here.split.bytes;
    made.prices = here.prices;
    made.messages = here.messages;
    if (here.split.variable >= 0) made.tensor = places.elements[here.split.variable];
    if (here.split.factor >= 0) std::tie(made.node, made.use) = UseOf(here.split.factor, places);
    proof->cases.push_back(std::move(made));
  }
}

}  // namespace yuba
