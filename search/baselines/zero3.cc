// ZeRO stage 3 (Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
// models", SC 2020): data parallelism with every weight cut over all devices and gathered where it
// is used. A weight is gathered for the forward pass, dropped, and gathered again for the backward
// pass. One that a pass reads several times, as an RNN's or a table that is tied to the logits, is
// gathered once and kept until its last reader.
#include <numeric>
#include <utility>

#include "search/baselines/baselines.h"
#include "search/baselines/batch.h"
#include "search/baselines/steps.h"

namespace yuba::search {
namespace {

// [NodeId]: whether an output that is no update needs the node: the forward pass.
std::vector<bool> ForwardPass(const Graph& graph) {
  std::vector<bool> forward(graph.nodes.size(), false);
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Tensor& result = graph.tensors[graph.nodes[n].result];
    forward[n] = result.output && !IsCarried(result);
    for (const NodeId reader : result.consumers) {
      const bool reads = reader > static_cast<NodeId>(n);
      forward[n] = forward[n] || (reads && forward[reader]);
    }
  }
  return forward;
}

// Whether the forward pass reads the copy several times, or what is behind it does. The update of
// the weight reads what each device stores of it.
bool IsReadAgain(const Graph& graph, const Tensor& copy, const std::vector<bool>& forward) {
  int ahead = 0, behind = 0;
  for (const NodeId reader : copy.consumers) {
    if (IsCarried(graph.tensors[graph.nodes[reader].result])) continue;
    ++(forward[reader] ? ahead : behind);
  }
  return ahead > 1 || behind > 1;
}

// The restriction to the first of the shardings of a weight that cut its first dimension.
Restriction AsStored(const Tensor& tensor, const Mesh& mesh) {
  std::vector<int> axes(mesh.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  const ChoiceSpace space = SpaceOfTensor(tensor.type);
  const Choice stored = RestrictedChoices(space, mesh, axes, axes, WholeChoice(space),
                                          Nesting::kLevel, OnFirstDimension(tensor))[0];
  Demands demands;
  for (const AxisList& list : stored.axes) demands.push_back({list, false});
  return {{demands}, Rest::kRefused};
}

}  // namespace

Choices Zero3(const Graph& graph, const Mesh& mesh, int64_t table_cells, const Budget& budget) {
  Restrictions restrictions = OnTheBatch(graph);
  const std::vector<bool> forward = ForwardPass(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!IsStoredBefore(graph, static_cast<TensorId>(t))) continue;
    const bool kept = tensor.kind == TensorKind::kCopy && IsReadAgain(graph, tensor, forward);
    restrictions[t] = kept ? Whole(tensor.type.dims.size()) : AsStored(tensor, mesh);
  }
  return CheapestWithin(graph, mesh, std::move(restrictions), table_cells, budget);
}

std::string OfZero3(const Graph& graph, const Mesh& mesh, bool moves_weights) {
  const char* const trains =
      Trains(graph) ? ""
                    : "in training it gathers weights once more and reduce-scatters gradients "
                      "(--train)";
  return Joined({WhyNotFilled(graph, mesh), moves_weights ? WhyWeightsMove(graph) : "", trains});
}

}  // namespace yuba::search
