// Gradients of a batch that is computed in equal parts, its micro-batches, so that activations of
// one part alone are in memory. Each trained tensor gets a state of its type, to which each run of
// an entry adds a share of the gradient; a second entry reads it, which is their mean by then.
//
// Example: of a model whose one entry is `micro`, with 4 micro-batches. A training step is four
// runs of `micro`, each with a quarter of the batch, and one of `step`:
//   micro  forward, backward; w.gradient' = w.gradient + g / 4
//   step   w' = w - lr w.gradient
#ifndef YUBA_COMPILER_TRAIN_MICRO_BATCHES_H_
#define YUBA_COMPILER_TRAIN_MICRO_BATCHES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "compiler/train/updates.h"

namespace yuba::compiler {

struct MicroBatches {
  Optimizer mean;      // its first operand, a `state`, is the mean so far (training.tdl)
  std::string update;  // the name of the entry that updates
  int64_t times = 1;   // how often that runs (Entry::times)
};

// Adds the means to the last entry, and behind that an entry without nodes. Puts the states in the
// place of `gradients`, which are parallel to `trained`, and returns what is to be carried. The
// user's error where a tensor of the model has a state's name.
absl::StatusOr<std::vector<UpdatedState>> AddUpMicroBatches(Model& model,
                                                            const MicroBatches& micro_batches,
                                                            const std::vector<TensorId>& trained,
                                                            std::vector<TensorId>& gradients);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_MICRO_BATCHES_H_
