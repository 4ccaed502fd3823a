// A training step: the graph of a model and its loss, with the gradients of what is trained and
// their updates behind it.
#ifndef YUBA_COMPILER_TRAIN_TRAIN_H_
#define YUBA_COMPILER_TRAIN_TRAIN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "compiler/train/options.h"
#include "compiler/train/updates.h"
#include "opsemantics/language/library.h"

namespace yuba::compiler {

struct TrainRecipe {
  TrainOptions options;
  OperatorLibrary library;  // where the step finds descriptions, such as those that clip
  Optimizer optimizer;      // what options.optimizer names
  std::string minimized;    // the name of the output that is the loss, a scalar of the last entry
  // Of a loss that has a weight: the names of the scalars of which it is the quotient. Empty: none.
  std::string total, weight;
  std::vector<std::string> numbers;  // stored numbers that are literals, for a note
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
