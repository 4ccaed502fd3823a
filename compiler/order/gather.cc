#include "compiler/order/gather.h"

#include "compiler/order/order.h"
#include "compiler/spmd/own_slice.h"

namespace yuba::compiler {
namespace {

// Kernels farther away from each other are not brought together.
constexpr int kFarthest = 1000;

// Puts the kernel's group beside the nearest one before it that it may stand beside, if there is
// one.
void Bring(const std::vector<KernelNodes>& kernels, int kernel, KernelSequence& sequence) {
  const int own = sequence.GroupOf(kernel);
  for (int other = own - 1; other >= 0 && own - other <= kFarthest; --other) {
    const KernelSequence::Group& group = sequence.groups()[other];
    const bool fits = kernels[group[0]].beside == kernels[kernel].beside &&
                      group.size() + sequence.groups()[own].size() <= kMostSections;
    // None reads what another one of them computes.
    if (!fits || !sequence.MayWork()) continue;
    if (sequence.MayMoveUp(own, other - 1) && sequence.Join(other, own, other)) return;
    if (sequence.MayMoveDown(other, own + 1) && sequence.Join(other, own, own)) return;
  }
}

}  // namespace

std::vector<NodeId> Gathered(const Graph& graph, const std::vector<Precedence>& precedences,
                             const std::vector<KernelNodes>& kernels) {
  KernelSequence sequence(graph, precedences, kernels);
  for (int k = 0; k < static_cast<int>(kernels.size()); ++k) {
    if (kernels[k].beside != 0) Bring(kernels, k, sequence);
  }
  return sequence.Nodes();
}

std::vector<NodeId> GatherKernels(const std::vector<Cluster>& products, Model& model) {
  std::vector<NodeId> order;
  for (int entry = 0; entry < static_cast<int>(model.graph.entries.size()); ++entry) {
    const Graph part = GraphOfEntry(model.graph, entry);
    const auto first = static_cast<NodeId>(NodesOf(model.graph, entry).begin);
    for (const NodeId node :
         Gathered(part, ReadersBeforeWriters(part), KernelsOfEntry(model, products, entry)))
      order.push_back(first + node);
  }
  Reorder(order, model);
  return order;
}

}  // namespace yuba::compiler
