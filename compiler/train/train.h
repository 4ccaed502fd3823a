// A training step: the graph of a model and its loss, with the gradients of what is trained and
// their updates behind it.
#ifndef YUBA_COMPILER_TRAIN_TRAIN_H_
#define YUBA_COMPILER_TRAIN_TRAIN_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "compiler/model.h"
#include "compiler/train/clip.h"
#include "compiler/train/micro_batches.h"
#include "compiler/train/updates.h"

namespace yuba::compiler {

struct TrainRecipe {
  std::string loss;  // the name of the output that training minimizes, a scalar of the last entry
  // Of a loss that has a weight: the names of the scalars of which it is the quotient. Empty: none.
  std::string total, weight;
  Optimizer optimizer;
  absl::optional<MicroBatches> micro_batches;  // none: an entry has the whole batch
  absl::optional<Clipping> clipping;           // of gradients; none: they are taken as they are
  absl::optional<ElementType> precision;  // of products (precision.h); none: as the model has them
  std::map<std::string, std::string> kept;  // parameters that are not trained, and why not
  std::vector<std::string> freeze;  // patterns of names that are not trained; * stands for any text
};

// Adds gradients and updates to the last entry of the graph, which is in canonical order
// (simplify.h), and returns what is to be carried. With micro-batches the updates, and what clips
// gradients, are a new entry behind it. Trained is every parameter of floats (an
// initializer of more than one element is one) on which the loss depends, but for those of `kept`,
// those that `freeze` names, fills of 0, and masks: tensors of 0 and -inf (or numbers from -1000
// down) alone. model.notes gets a line for what is trained and one for what is not. The user's
// error where nothing is trained, a pattern names nothing, or a node on the way has no gradient.
absl::StatusOr<std::vector<UpdatedState>> MakeTrainingStep(Model& model, const TrainRecipe& recipe);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_TRAIN_H_
