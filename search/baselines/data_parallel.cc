// Data parallelism, as PyTorch's DistributedDataParallel has it (Li et al., "PyTorch distributed:
// experiences on accelerating data parallel training", VLDB 2020), and stages 1 and 2 of ZeRO
// (Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter models",
// SC 2020, section 5): every device has all weights and its part of the batch. Where the batch has
// fewer elements than there are devices, the other axes cut whatever is cheapest.
//
// In a training step each device sums the gradients over its part of the batch, and all-reduces
// them: a reduce-scatter, then the update of the part that it has of each weight, and an all-gather
// of the updated weights. That is ZeRO-2 to the letter. ZeRO-1 cuts the optimizer's states alone,
// and data parallelism without ZeRO nothing: each device updates all weights alike, which no plan
// does here, since no device repeats work. All three move the same bytes, 2 (k - 1) for each byte
// of weights on k devices (section 7.1), and differ in memory, which is told besides. In how large
// buckets gradients are reduced is a matter of schedule: the bytes are the same.
#include "absl/strings/str_cat.h"
#include "search/baselines/baselines.h"
#include "search/baselines/batch.h"
#include "search/baselines/steps.h"
#include "search/space/dim_names.h"

namespace yuba::search {

Restrictions DataParallel(const Graph& graph, const Mesh& /*group*/) {
  Restrictions restrictions = OnTheBatch(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (IsStoredBefore(graph, static_cast<TensorId>(t)))
      restrictions[t] = Whole(graph.tensors[t].type.dims.size());
  }
  return restrictions;
}

bool SuitsDataParallel(const Graph& graph, const Mesh& group) {
  return BatchSize(graph, BatchOfInputs(graph)) % group.devices() == 0;
}

namespace {

constexpr char kAllReduce[] = "in training it adds an all-reduce of the gradients (--train)";

// `trains`: what is said of a training step.
std::string Remark(const Graph& graph, const Plan& plan, const char* trains) {
  const bool moves_weights = plan.cost.weight > 0;
  return Joined({WhyNotFilled(graph, plan.mesh.devices()),
                 moves_weights ? WhyWeightsMove(graph) : "", Trains(graph) ? trains : kAllReduce});
}

// Bytes of the tensor on one device that the plan's sharding saves.
int64_t Saved(const Tensor& tensor, const Choice& sharding, const Mesh& mesh) {
  int64_t parts = 1;
  for (const AxisList& axes : sharding.axes) parts *= PartCount(mesh, axes);
  const int64_t bytes = ElementCount(tensor.type) * ByteSize(tensor.type.type);
  return bytes - bytes / parts;
}

}  // namespace

// Gradients are as large as the weights, and all of them wait for the optimizer. Here the same
// devices have of each what they update.
int64_t Gradients(const Graph& graph, const Plan& plan) {
  int64_t weights = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.kind != TensorKind::kParameter || !IsCarried(tensor)) continue;
    weights += ElementCount(tensor.type) * ByteSize(tensor.type.type);
  }
  return weights - weights / plan.mesh.devices();
}

int64_t StatesAndGradients(const Graph& graph, const Plan& plan) {
  int64_t saved = Gradients(graph, plan);
  if (!Trains(graph)) return saved;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (tensor.kind != TensorKind::kState || !IsCarried(tensor)) continue;
    saved += Saved(tensor, plan.tensors[t], plan.mesh);
  }
  return saved;
}

std::string OfDataParallel(const Graph& graph, const Plan& plan) {
  return Remark(graph, plan,
                "as published every device has all gradients and states of the optimizer and "
                "updates all weights; no device repeats work here, so both are cut, which moves "
                "the same bytes");
}

std::string OfZero1(const Graph& graph, const Plan& plan) {
  return Remark(graph, plan,
                "as published every device has all gradients until the update; here they are cut "
                "as they are reduced, which moves the same bytes");
}

std::string OfZero2(const Graph& graph, const Plan& plan) { return Remark(graph, plan, ""); }

}  // namespace yuba::search
