#include "search/baselines/batch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "search/baselines/steps.h"
#include "search/plan/weights.h"
#include "search/space/dim_names.h"

namespace yuba::search {
namespace {

void CutBatch(const std::vector<int>& dim_names, Restriction* restriction) {
  std::vector<bool> batch;
  for (int dim_name : dim_names) batch.push_back(dim_name == 0);
  if (std::count(batch.begin(), batch.end(), true) > 0) *restriction = Along(batch);
}

}  // namespace

Restrictions OnTheBatch(const Graph& graph) {
  const NamedDims dim_names = PropagateDimNames(graph, BatchOfInputs(graph));
  Restrictions restrictions = Unrestricted(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t)
    CutBatch(dim_names.tensors[t], &restrictions[t]);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    CutBatch(dim_names.nodes[n], &restrictions[graph.tensors.size() + n]);
  }
  return restrictions;
}

bool IsStoredBefore(const Graph& graph, TensorId id) {
  const TensorKind kind = graph.tensors[SourceOf(graph, id)].kind;
  return kind == TensorKind::kParameter || kind == TensorKind::kConstant;
}

std::string WhyNotFilled(const Graph& graph, int64_t devices) {
  const int64_t batch = BatchSize(graph, BatchOfInputs(graph));
  if (batch % devices == 0) return "";
  if (batch == 1) return "there is no batch: what is cheapest is cut in its place";
  if (batch < devices) {
    return absl::StrCat("the batch of ", batch, " is shorter than the ", devices,
                        " devices are many: the rest is cut as is cheapest");
  }
  return absl::StrCat("the batch of ", batch, " is not a multiple of ", devices,
                      " devices, so some have more of it");
}

std::string WhyWeightsMove(const Graph& graph) {
  const std::vector<bool> weights = WeightTensors(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const bool computed = graph.tensors[t].kind == TensorKind::kActivation;
    if (weights[t] && computed && !graph.tensors[t].consumers.empty()) {
      return "weights that the graph computes, as from integers, are computed once and gathered: "
             "no device repeats work";
    }
  }
  return "";
}

int64_t ReplicasOfWeights(const Graph& graph, const Plan& plan) {
  std::vector<bool> cuts(plan.mesh.axes.size(), false);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].kind != TensorKind::kParameter) continue;
    for (const AxisList& axes : plan.tensors[t].axes) {
      for (const uint8_t axis : axes) cuts[axis] = true;
    }
  }
  int64_t replicas = 1;
  for (size_t axis = 0; axis < cuts.size(); ++axis) {
    if (!cuts[axis]) replicas *= plan.mesh.axes[axis].size;
  }
  return replicas;
}

std::string Joined(const std::vector<std::string>& clauses) {
  std::string sentence;
  for (const std::string& clause : clauses) {
    if (clause.empty()) continue;
    absl::StrAppend(&sentence, sentence.empty() ? "" : "; ", clause);
  }
  return sentence;
}

bool Trains(const Graph& graph) {
  return std::any_of(graph.tensors.begin(), graph.tensors.end(), [](const Tensor& tensor) {
    return tensor.kind == TensorKind::kParameter && IsCarried(tensor);
  });
}

}  // namespace yuba::search
