// How a file is imported: sizes that the file leaves open, values that decide shapes, and whether
// dimensions get factors. These options are part of what the graph's hash depends on.
#ifndef YUBA_COMPILER_IMPORT_OPTIONS_H_
#define YUBA_COMPILER_IMPORT_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/train/options.h"
#include "opsemantics/language/library.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba::onnx {

using compiler::kEvalEntry;
using compiler::kMicroEntry;
using compiler::kTrainEntry;
using compiler::TieOptions;
using compiler::TrainOptions;

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

// --batch-dim NAME or INPUT:DIM: the dimensions that the file calls NAME, or this one of an input.
struct BatchDim {
  std::string symbol, input;  // one of them is empty
  int dim = -1;               // of the input
};

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
