#include "compiler/train/train.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/train/choose.h"
#include "compiler/train/clip.h"
#include "compiler/train/frozen_rows.h"
#include "compiler/train/gradients.h"
#include "compiler/train/micro_batches.h"
#include "compiler/train/precision.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

TensorId TensorNamed(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  YUBA_CHECK(found != graph.tensors.end()) << name;
  return static_cast<TensorId>(found - graph.tensors.begin());
}

}  // namespace

absl::StatusOr<std::vector<UpdatedState>> MakeTrainingStep(Model& model,
                                                           const TrainRecipe& recipe) {
  const TrainOptions& options = recipe.options;
  Chooser chooser(model, recipe);
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorId> candidates, chooser.Choose());
  model.trainable = chooser.trainable();
  if (options.precision.has_value()) ComputeProductsIn(*options.precision, model);
  // Of a part of a batch the gradients of the total are added up, and divided in the end.
  const bool total = options.micro_batches > 1 && !recipe.total.empty();
  const TensorId minimized = TensorNamed(model.graph, total ? recipe.total : recipe.minimized);
  TensorId weight = recipe.weight.empty() ? -1 : TensorNamed(model.graph, recipe.weight);
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorId> found,
                        AddGradients(model, minimized, candidates));
  if (total) {  // it was kept for this
    auto& outputs = model.graph.outputs;
    outputs.erase(std::remove(outputs.begin(), outputs.end(), minimized), outputs.end());
  }
  std::vector<TensorId> trained, gradients;
  for (size_t c = 0; c < candidates.size(); ++c) {
    if (found[c] < 0) {
      chooser.LeaveOut(candidates[c]);
      continue;
    }
    trained.push_back(candidates[c]);
    gradients.push_back(found[c]);
  }
  if (trained.empty()) {
    return UserError(
        "nothing can be trained: the loss depends on no parameter of floats",
        chooser.left_out().empty()
            ? ""
            : absl::StrCat("; not trained: ", absl::StrJoin(chooser.left_out(), ", ")));
  }
  for (std::string& line : chooser.Notes(trained)) model.notes.push_back(std::move(line));
  YUBA_RETURN_IF_ERROR(FreezeRows(model, options.freeze_rows, trained, gradients));
  std::vector<UpdatedState> updated;
  if (options.micro_batches > 1) {
    YUBA_ASSIGN_OR_RETURN(
        updated, AddUpMicroBatches(model, options, recipe.library, trained, gradients, weight));
  }
  if (options.clip > 0) {
    YUBA_ASSIGN_OR_RETURN(gradients, ClipGradients(model, options.clip, recipe.library, gradients));
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<UpdatedState> of_step,
                        AddUpdates(model, recipe.optimizer, trained, gradients, weight));
  updated.insert(updated.end(), of_step.begin(), of_step.end());
  return updated;
}

}  // namespace yuba::compiler
