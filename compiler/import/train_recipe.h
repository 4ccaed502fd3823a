// What --train and its flags name: descriptions, found in the library, and numbers for them.
#ifndef YUBA_COMPILER_IMPORT_TRAIN_RECIPE_H_
#define YUBA_COMPILER_IMPORT_TRAIN_RECIPE_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/import/options.h"
#include "compiler/train/train.h"
#include "opsemantics/elaborate/elaborate.h"

namespace yuba::onnx {

// A description by its name, and numbers for its attributes.
struct Named {
  const OpDescription* op = nullptr;  // of the library
  Attributes attributes;
};

// The loss of the text NAME or NAME:ATTRIBUTE=NUMBER,...: a description of two operands, an output
// of the model and labels, and of one output without dimensions, or two, of which the second is the
// weight. The user's error where it is none; of an unknown name it lists the losses that there are.
absl::StatusOr<Named> FindLoss(const std::string& text, const OperatorLibrary& library);

// The description of that name that measures what a loss judges, as a loss does, and need not have
// a gradient. The user's error lists those that there are.
absl::StatusOr<const OpDescription*> FindMetric(const std::string& name,
                                                const OperatorLibrary& library);

// The optimizer of the options, found in the library, its attributes, and what it starts with.
// Names may have - for _. The user's error where no description has that name, where it is no
// optimizer or loss, or where it lacks an attribute. What the loss is called in the graph is for
// the caller to say.
absl::StatusOr<compiler::TrainRecipe> RecipeOf(const TrainOptions& options,
                                               const OperatorLibrary& library);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRAIN_RECIPE_H_
