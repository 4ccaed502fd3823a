// What --train and its flags say of a training step. A flag's value stands here whether the import
// needs it (`loss`, `ties`) or the training step does (`clip`), so that both see all of them.
#ifndef YUBA_COMPILER_TRAIN_OPTIONS_H_
#define YUBA_COMPILER_TRAIN_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/element_type.h"

namespace yuba::compiler {

// --tie TIED=KEPT: the parameter `tied` is `kept` (import/ties.h).
struct TieOptions {
  std::string tied, kept;
};

// --train OPTIMIZER --loss LOSS: the model is a training step.
struct TrainOptions {
  std::string optimizer;            // a description (operators/training.tdl), perhaps with numbers
                                    // for its attributes: "adamw" or "adamw:decay=0.1,eps=1e-6"
  std::string loss;                 // a description; empty where `minimize` is given
  std::string output;               // of the model, which the loss judges; empty: its only one
  std::vector<std::string> freeze;  // patterns of names of parameters that are not trained, of
                                    // which * stands for any text
  std::vector<std::string> trainable;  // of those that are, whatever the file or their values say;
                                       // what both name is not trained
  // Rows of trained tables that stay as they are: a table's name and the rows.
  std::map<std::string, std::vector<int64_t>> freeze_rows;
  bool allow_missing = false;  // parameters of the user's program may be missing in the file
  bool list_all = false;       // notes name all that is trained, and not only the first
  double lr = 0.01;            // the learning rate before the first step
  double clip = 0;             // the largest norm of all gradients together; 0: any
  int64_t eval_every = 0;      // above 0: an entry that evaluates is run after so many steps each
  int64_t micro_batches = 1;   // the parts of a batch that gradients are computed of one by one
  absl::optional<ElementType> precision;  // of matrix products and convolutions; none: the model's
  std::vector<TieOptions> ties;           // parameters that are one
  std::string minimize;                   // an output of the model that is its loss; or empty
  std::string metrics;                    // descriptions, "accuracy,...", measured beside the loss
};

// The entries of training, in their order: one that evaluates (eval_every), one that adds up the
// gradients of micro-batches, and the step itself, which is all there is without the options.
constexpr char kEvalEntry[] = "eval";
constexpr char kMicroEntry[] = "micro";
constexpr char kTrainEntry[] = "step";

// The built-in descriptions that flags use without naming them (OwnDescription): no other file of
// this room has the name of an operator.
constexpr char kRoot[] = "sqrt";
constexpr char kSquaredNorm[] = "squared_norm";  // --clip
constexpr char kClipped[] = "clipped";
constexpr char kMeanOverParts[] = "mean_over_parts";  // --micro-batches
constexpr char kSumOverParts[] = "sum_over_parts";
constexpr char kWeightedMean[] = "weighted_mean";  // also of a loss that has a weight

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_OPTIONS_H_
