// Spartan's greedy order (Huang et al., "Spartan: a distributed array framework with smart tiling",
// USENIX ATC 2015, as section 7.4 of the Tofu paper runs it): the largest tensor first, then the
// nodes that write or read it; each takes the choice that is cheapest given the choices made
// before.
#include <algorithm>
#include <numeric>

#include "search/baselines/baselines.h"
#include "search/baselines/steps.h"

namespace yuba::search {

Choices Spartan(const Graph& graph, const Mesh& mesh, const Budget& budget) {
  const int tensors = static_cast<int>(graph.tensors.size());
  std::vector<int> by_size(tensors), order;
  std::iota(by_size.begin(), by_size.end(), 0);
  auto bytes = [&](int t) {
    return ElementCount(graph.tensors[t].type) * ByteSize(graph.tensors[t].type.type);
  };
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](int a, int b) { return bytes(a) > bytes(b); });
  for (int t : by_size) {
    order.push_back(t);
    if (graph.tensors[t].producer >= 0) order.push_back(tensors + graph.tensors[t].producer);
    for (NodeId reader : graph.tensors[t].consumers) order.push_back(tensors + reader);
  }
  return GreedyByLevel(graph, mesh, order, budget);
}

}  // namespace yuba::search
