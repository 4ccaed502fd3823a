// The recursive greedy planner of MindSpore (D-Rec: Wang et al., "Efficient and systematic
// partitioning of large and deep neural networks for parallelization", Euro-Par 2021). At each
// level the nodes are taken by descending work (flops), each followed by its tensors; each element
// takes the choice that moves the fewest bytes given the choices made before.
#include <algorithm>
#include <numeric>

#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/sharding/work.h"
#include "search/baselines/baselines.h"
#include "search/baselines/steps.h"

namespace yuba::search {
namespace {

// Of the whole definition. A look-up in data counts as a search through all rows: its index is in
// no tie with others.
double Flops(const Definition& definition) {
  PointWork work = WorkAtPoint(definition);
  if (!IsOpaque(definition)) {
    work.ties.erase(std::remove_if(work.ties.begin(), work.ties.end(),
                                   [](const TiedIndices& tie) { return tie.size() == 1; }),
                    work.ties.end());
  }
  std::vector<double> sizes;
  for (const Interval& range : RangesOfWork(definition, WholeRanges(definition)))
    sizes.push_back(static_cast<double>(range.size()));
  return work.operations * CountPoints(sizes, work.ties);
}

}  // namespace

Choices MindSpore(const Graph& graph, const Mesh& mesh, const Budget& budget) {
  const int tensors = static_cast<int>(graph.tensors.size());
  std::vector<double> work;
  for (const Node& node : graph.nodes) {
    const bool made = IsCopy(graph, node) || IsAccumulator(node);  // by the search, not the model
    work.push_back(made ? 0 : Flops(*node.definition));
  }
  std::vector<int> nodes(graph.nodes.size()), order;
  std::iota(nodes.begin(), nodes.end(), 0);
  std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) { return work[a] > work[b]; });
  for (int n : nodes) {
    order.push_back(tensors + n);
    for (TensorId operand : graph.nodes[n].operands) order.push_back(operand);
    order.push_back(graph.nodes[n].result);
  }
  return GreedyByLevel(graph, mesh, order, budget);
}

}  // namespace yuba::search
