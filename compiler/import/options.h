// How a file is imported: sizes that the file leaves open, values that decide shapes, and whether
// dimensions get factors. These options are part of what the graph's hash depends on.
#ifndef YUBA_COMPILER_IMPORT_OPTIONS_H_
#define YUBA_COMPILER_IMPORT_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/language/library.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba::onnx {

// The newest version of ONNX's operators whose changes are known (translate/versions.h). Newer ones
// are read as this one.
constexpr int64_t kNewestOpset = 28;

// --entry NAME*TIMES:SYMBOL=N,...: the model at these sizes, to be run as an entry of its own.
struct EntryOptions {
  std::string name;
  std::map<std::string, int64_t> dims;  // besides ImportOptions::dims, and before them
  int64_t times = 1;
  friend bool operator==(const EntryOptions& a, const EntryOptions& b) {
    return a.name == b.name && a.dims == b.dims && a.times == b.times;
  }
};

// --cache PAST=PRESENT:LENGTH: the output PRESENT is the input PAST with rows behind it, and both
// are one state of LENGTH rows (translate/caches.h). A * in both names stands for the same text.
struct CacheOptions {
  std::string past, present;
  int64_t length = 0;
};

// --tie TIED=KEPT: the parameter `tied` is `kept` (ties.h).
struct TieOptions {
  std::string tied, kept;
};

// --train OPTIMIZER --loss LOSS: the model is a training step.
struct TrainOptions {
  std::string optimizer;            // a description (operators/training.tdl), perhaps with numbers
                                    // for its attributes: "adamw" or "adamw:decay=0.1,eps=1e-6"
  std::string loss;                 // a description; empty where `minimize` is given
  std::string output;               // of the model, which the loss judges; empty: its only one
  std::vector<std::string> freeze;  // patterns of names of parameters that are not trained
  std::vector<std::string> trainable;  // of what is trained whatever the file or its values say
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

// --batch-dim NAME or INPUT:DIM: the dimensions that the file calls NAME, or this one of an input.
struct BatchDim {
  std::string symbol, input;  // one of them is empty
  int dim = -1;               // of the input
};

// The entries of training, in their order: one that evaluates (eval_every), one that adds up the
// gradients of micro-batches, and the step itself, which is all there is without the options.
constexpr char kEvalEntry[] = "eval";
constexpr char kMicroEntry[] = "micro";
constexpr char kTrainEntry[] = "step";

struct ImportOptions {
  // --from-tensors, --to-tensors: the part of the file that leads from those values to these, by
  // their names; empty: from its inputs, to its outputs (file/part.h).
  std::vector<std::string> from_tensors, to_tensors;
  std::map<std::string, int64_t> dims;     // --dim NAME=N: symbolic dimensions
  absl::optional<int64_t> batch;           // --batch N: examples in a step
  std::vector<BatchDim> batch_dims;        // --batch-dim: which dimensions are the batch (batch.h)
  std::map<std::string, TensorData> bind;  // --bind NAME=FILE: inputs that are known when planning
  // --state OUT=IN: the output OUT is the next value of the input or initializer IN.
  std::map<std::string, std::string> state;
  std::vector<CacheOptions> caches;
  absl::optional<TrainOptions> train;
  bool init = false;  // --init: what never changes is computed by an entry of its own
  std::vector<EntryOptions> entries;  // none: the model is the one entry, "step"
  bool strict = false;  // --strict: a model of an opset above kNewestOpset is an error
  bool factors = true;  // false: no dimension has factors, as in `--space tofu`
  const OperatorLibrary* library = nullptr;  // the descriptions; not owned, needed
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_OPTIONS_H_
