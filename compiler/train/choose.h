// Which tensors a training step trains: what the file calls parameters, else the parameters that do
// not look like tables; and what --trainable and --freeze say of either.
#ifndef YUBA_COMPILER_TRAIN_CHOOSE_H_
#define YUBA_COMPILER_TRAIN_CHOOSE_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/model.h"
#include "compiler/train/train.h"

namespace yuba::compiler {

class Chooser {
 public:
  // Both must outlive it.
  Chooser(const Model& model, const TrainRecipe& recipe);

  // The parameters of floats that are to be trained, in the graph's order. The user's error where a
  // pattern of the recipe names none.
  absl::StatusOr<std::vector<TensorId>> Choose();

  // The tensor was chosen, but the loss does not depend on it.
  void LeaveOut(TensorId tensor);

  // "w (--freeze)", for each parameter that is not trained, and why.
  const std::vector<std::string>& left_out() const { return left_out_; }

  // The names of what was chosen, and of what would have been if it were not frozen.
  const std::set<std::string>& trainable() const { return trainable_; }

  // Lines for people: what is trained, what is not, and which numbers are literals.
  std::vector<std::string> Notes(const std::vector<TensorId>& trained) const;

 private:
  std::string WhyNot(const Tensor& tensor, TensorId id);
  bool Matches(const std::vector<std::string>& patterns, const std::string& name,
               std::vector<bool>& used) const;
  absl::Status CheckJoined(const std::string& name) const;
  absl::Status CheckPatterns() const;
  std::string List(std::vector<std::string> names) const;

  const Model& model_;
  const TrainOptions& options_;
  const std::vector<std::string>& numbers_;  // TrainRecipe::numbers
  std::vector<bool> freezes_, trains_;       // [pattern]: it has named a parameter
  std::vector<std::string> left_out_, tables_;
  std::set<std::string> trainable_;
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_CHOOSE_H_
