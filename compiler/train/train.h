// A training step: the graph of a model and its loss, with the gradients of what is trained and
// their updates behind it.
#ifndef YUBA_COMPILER_TRAIN_TRAIN_H_
#define YUBA_COMPILER_TRAIN_TRAIN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "compiler/model.h"
#include "compiler/train/clip.h"
#include "compiler/train/frozen_rows.h"
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
  // Patterns of names, of which * stands for any text: what is not trained, and what is, whatever
  // the file or its values say. What both name is not trained.
  std::vector<std::string> freeze, trainable;
  std::vector<std::string> numbers;  // stored numbers that are literals, for a note
  std::vector<FrozenRows> frozen_rows;
  bool list_all = false;  // the notes name all that is trained, and not only the first
};

// Adds gradients and updates to the last entry of the graph, which is in canonical order
// (simplify.h), and returns what is to be carried. With micro-batches the updates, and what clips
// gradients, are a new entry behind it. Trained is every parameter of floats on which the loss
// depends, but for those that no training changes (trainable.h) and that `trainable` does not name,
// and those that `freeze` names. Sets model.trainable; model.notes gets a line for what is trained
// and one for what is not. The user's error where nothing is trained, a pattern names nothing, or a
// node on the way has no gradient.
absl::StatusOr<std::vector<UpdatedState>> MakeTrainingStep(Model& model, const TrainRecipe& recipe);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_TRAIN_H_
