// ZeRO stage 3 (Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
// models", SC 2020, section 5.3), and PyTorch's FullyShardedDataParallel (Zhao et al., VLDB 2023):
// data parallelism with every weight cut over all devices and gathered where it is used, twice a
// step: for the forward pass, dropped, and again for the backward pass. One that a pass reads
// several times, as an RNN's or a table that is tied to the logits, is gathered once and kept until
// its last reader. Gradients are reduce-scattered to where their weights are.
#include <numeric>

#include "absl/strings/str_cat.h"
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

Restrictions Zero3(const Graph& graph, const Mesh& group) {
  Restrictions restrictions = OnTheBatch(graph);
  const std::vector<bool> forward = ForwardPass(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!IsStoredBefore(graph, static_cast<TensorId>(t))) continue;
    const bool kept = tensor.kind == TensorKind::kCopy && IsReadAgain(graph, tensor, forward);
    restrictions[t] = kept ? Whole(tensor.type.dims.size()) : AsStored(tensor, group);
  }
  return restrictions;
}

namespace {

std::string InTraining(const Graph& graph, const char* adds) { return Trains(graph) ? "" : adds; }

std::string MovedWeights(const Graph& graph, const Plan& plan) {
  return plan.cost.weight > 0 ? WhyWeightsMove(graph) : "";
}

}  // namespace

std::string OfZero3(const Graph& graph, const Plan& plan) {
  return Joined({WhyNotFilled(graph, plan.mesh.devices()), MovedWeights(graph, plan),
                 InTraining(graph,
                            "in training it gathers weights once more and reduce-scatters "
                            "gradients (--train)")});
}

// Weights cut within groups of devices, and the same in each group (Zhao et al., section 3.2.2).
std::string OfHybrid(const Graph& graph, const Plan& plan) {
  const int64_t groups = ReplicasOfWeights(graph, plan);
  return Joined({absl::StrCat("weights are cut over ", plan.mesh.devices() / groups,
                              " devices, and the same in each of ", groups, " groups"),
                 WhyNotFilled(graph, plan.mesh.devices()), MovedWeights(graph, plan),
                 InTraining(graph,
                            "in training it gathers weights once more and reduces gradients over "
                            "all devices (--train)")});
}

}  // namespace yuba::search
