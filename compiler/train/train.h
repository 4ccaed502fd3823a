// A training step: the graph of a model and its loss, with the gradients of what is trained and
// their updates behind it.
#ifndef YUBA_COMPILER_TRAIN_TRAIN_H_
#define YUBA_COMPILER_TRAIN_TRAIN_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "compiler/train/updates.h"

namespace yuba::compiler {

struct TrainRecipe {
  std::string loss;  // the name of the output that is made small, a scalar
  Optimizer optimizer;
  std::set<std::string> statistics;  // names of running statistics, which are not trained
  std::vector<std::string> freeze;  // patterns of names that are not trained; * stands for any text
};

// Adds gradients and updates to the graph, which is in canonical order (simplify.h), and returns
// what is to be carried. Trained is every parameter of floats on which the loss depends, but for
// `statistics`, those that `freeze` names, and masks: tensors of 0 and -inf (or numbers from -1000
// down) alone. model.notes gets a line for what is trained and one for what is not. The user's
// error where nothing is trained, a pattern names nothing, or a node on the way has no gradient.
absl::StatusOr<std::vector<UpdatedState>> MakeTrainingStep(Model& model, const TrainRecipe& recipe);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_TRAIN_H_
