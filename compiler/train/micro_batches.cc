#include "compiler/train/micro_batches.h"

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/train/added_nodes.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

// The name without that of the entry: "micro:loss_weight" is "loss_weight".
std::string OwnName(const Graph& graph, TensorId tensor) {
  const std::string& name = graph.tensors[tensor].name;
  const std::string prefix = NameInEntry(graph.entries, graph.entries.size() - 1, "");
  return absl::StartsWith(name, prefix) ? name.substr(prefix.size()) : name;
}

// A state of the trained tensor's type, zeros before the first step.
absl::StatusOr<TensorId> AddSoFar(Model& model, TensorId trained) {
  Graph& graph = model.graph;
  Tensor mean;
  mean.name = absl::StrCat(OwnName(graph, trained), ".gradient");
  const bool taken = std::any_of(graph.tensors.begin(), graph.tensors.end(),
                                 [&](const Tensor& other) { return other.name == mean.name; });
  if (taken) {
    return UserError("--micro-batches: the model has a tensor '", mean.name,
                     "', which is the name ", "of what is added: rename the tensor");
  }
  mean.type = graph.tensors[trained].type;
  mean.dims = graph.tensors[trained].dims;
  mean.dim_names = graph.tensors[trained].dim_names;
  mean.kind = TensorKind::kState;
  InitialValue zero;
  zero.kind = InitialValue::kFill;
  zero.data = std::make_shared<const std::string>(ByteSize(mean.type.type), '\0');
  graph.tensors.push_back(std::move(mean));
  const auto id = static_cast<TensorId>(graph.tensors.size()) - 1;
  model.values[id] = std::move(zero);
  return id;
}

// Puts the quotients of sums by the weight in their place.
absl::Status Divide(Model& model, const OpDescription& quotient, TensorId weight,
                    std::vector<TensorId>& sums) {
  AddedNodes added(model);
  for (TensorId& sum : sums) {
    const std::string name = absl::StrCat("mean(", model.graph.tensors[sum].name, ")");
    YUBA_ASSIGN_OR_RETURN(sum, added.Use(quotient, {}, {sum, weight}, name));
  }
  Link(model.graph);
  CheckGraph(model.graph);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<UpdatedState>> AddUpMicroBatches(
    Model& model, const TrainOptions& options, const OperatorLibrary& library,
    const std::vector<TensorId>& trained, std::vector<TensorId>& gradients, TensorId& weight) {
  std::vector<TensorId> so_far, added = gradients;
  for (const TensorId tensor : trained) {
    YUBA_ASSIGN_OR_RETURN(const TensorId one, AddSoFar(model, tensor));
    so_far.push_back(one);
  }
  if (weight >= 0) {
    YUBA_ASSIGN_OR_RETURN(const TensorId one, AddSoFar(model, weight));
    so_far.push_back(one);
    added.push_back(weight);
  }
  const char* kind = weight >= 0 ? kSumOverParts : kMeanOverParts;
  const Optimizer sum = {
      OwnDescription(kind, library), {{"parts", static_cast<double>(options.micro_batches)}}, {}};
  YUBA_ASSIGN_OR_RETURN(std::vector<UpdatedState> updated, AddUpdates(model, sum, so_far, added));
  model.graph.entries.push_back({kTrainEntry, std::max<int64_t>(options.eval_every, 1)});
  if (weight >= 0) {
    weight = so_far.back();
    so_far.pop_back();
    YUBA_RETURN_IF_ERROR(Divide(model, OwnDescription(kWeightedMean, library), weight, so_far));
  }
  gradients = std::move(so_far);
  return updated;
}

}  // namespace yuba::compiler
