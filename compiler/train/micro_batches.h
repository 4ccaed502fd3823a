// Gradients of a batch that is computed in equal parts, its micro-batches, so that activations of
// one part alone are in memory. Each trained tensor gets a state of its type, to which each run of
// an entry adds a share of the gradient; a second entry reads it, which is their mean by then.
//
// Example: of a model whose one entry is `micro`, with 4 micro-batches. A training step is four
// runs of `micro`, each with a quarter of the batch, and one of `step`:
//   micro  forward, backward; w.gradient' = w.gradient + g / 4
//   step   w' = w - lr w.gradient
// Of a loss that has a weight, such as a count of labels, gradients and weights are added up as
// they are, and divided once:
//   micro  w.gradient' = w.gradient + g of the loss's total; loss_weight.gradient' = ... + weight
//   step   w' = w - lr (w.gradient / loss_weight.gradient)
#ifndef YUBA_COMPILER_TRAIN_MICRO_BATCHES_H_
#define YUBA_COMPILER_TRAIN_MICRO_BATCHES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "compiler/train/options.h"
#include "compiler/train/updates.h"
#include "opsemantics/language/library.h"

namespace yuba::compiler {

// Adds the means to the last entry, and behind that an entry that has no nodes but quotients: uses
// of three descriptions of the library (operators/training.tdl), mean_over_parts, or sum_over_parts
// and weighted_mean of a loss that has a weight. Puts the states, or the quotients, in the place of
// `gradients`, which are parallel to `trained`, and in the place of `weight` the sum of those of
// all parts; -1: the loss has none. Returns what is to be carried. The user's error where a tensor
// of the model has a state's name.
absl::StatusOr<std::vector<UpdatedState>> AddUpMicroBatches(
    Model& model, const TrainOptions& options, const OperatorLibrary& library,
    const std::vector<TensorId>& trained, std::vector<TensorId>& gradients, TensorId& weight);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_MICRO_BATCHES_H_
