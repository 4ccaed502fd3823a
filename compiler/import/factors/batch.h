// Another batch than the file's: what the nodes may do with it.
#ifndef YUBA_COMPILER_IMPORT_FACTORS_BATCH_H_
#define YUBA_COMPILER_IMPORT_FACTORS_BATCH_H_

#include <vector>

#include "absl/status/status.h"
#include "opsemantics/definition/graph.h"

namespace yuba::onnx {

// Dimension 0 of `inputs` was replaced. An error that names the first node that reads only some of
// its elements: the file's own batch is built into it (an unrolled sequence, say), and with another
// one the model would compute something else without a word.
absl::Status CheckBatch(const Graph& graph, const std::vector<TensorId>& inputs);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FACTORS_BATCH_H_
