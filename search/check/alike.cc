#include "search/check/alike.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace yuba::search {
namespace {

// Whether two nodes have the same choices at the same costs.
bool CutAlike(const Graph& graph, const PinsOfElements& pins, size_t first, size_t second) {
  const Node &a = graph.nodes[first], &b = graph.nodes[second];
  const Definition &here = *a.definition, &other = *b.definition;
  const size_t tensors = graph.tensors.size();
  if (IsCopy(graph, a) != IsCopy(graph, b)) return false;
  if (graph.entries[a.entry].times != graph.entries[b.entry].times) return false;
  if (!(pins[tensors + first] == pins[tensors + second])) return false;
  if (!(pins[a.result] == pins[b.result])) return false;
  if (&other != &here && !(other.result == here.result && other == here)) return false;
  for (size_t o = 0; o < a.operands.size(); ++o) {
    bool is_copy = graph.tensors[a.operands[o]].kind == TensorKind::kCopy;
    if (is_copy != (graph.tensors[b.operands[o]].kind == TensorKind::kCopy)) return false;
    if (!(pins[a.operands[o]] == pins[b.operands[o]])) return false;
  }
  return true;
}

}  // namespace

std::vector<size_t> FirstAlike(const Graph& graph, const PinsOfElements& pins) {
  std::map<std::vector<int64_t>, std::vector<size_t>> by_extents;  // different ones
  std::vector<size_t> alike;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Definition& definition = *graph.nodes[n].definition;
    std::vector<int64_t> extents = definition.result.dims;
    for (const Index& index : definition.indices) extents.push_back(index.extent);
    std::vector<size_t>& others = by_extents[extents];
    const auto first = std::find_if(others.begin(), others.end(),
                                    [&](size_t other) { return CutAlike(graph, pins, n, other); });
    alike.push_back(first == others.end() ? n : *first);
    if (first == others.end()) others.push_back(n);
  }
  return alike;
}

}  // namespace yuba::search
