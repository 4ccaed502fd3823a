#include "compiler/train/micro_batches.h"

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

// A state of the trained tensor's type, zeros before the first step.
absl::StatusOr<TensorId> AddMean(Model& model, TensorId trained) {
  Graph& graph = model.graph;
  Tensor mean;
  mean.name = absl::StrCat(graph.tensors[trained].name, ".gradient");
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

}  // namespace

absl::StatusOr<std::vector<UpdatedState>> AddUpMicroBatches(Model& model,
                                                            const MicroBatches& micro_batches,
                                                            const std::vector<TensorId>& trained,
                                                            std::vector<TensorId>& gradients) {
  std::vector<TensorId> means;
  for (const TensorId tensor : trained) {
    YUBA_ASSIGN_OR_RETURN(const TensorId mean, AddMean(model, tensor));
    means.push_back(mean);
  }
  YUBA_ASSIGN_OR_RETURN(std::vector<UpdatedState> updated,
                        AddUpdates(model, micro_batches.mean, means, gradients));
  model.graph.entries.push_back({micro_batches.update, micro_batches.times});
  gradients = std::move(means);
  return updated;
}

}  // namespace yuba::compiler
