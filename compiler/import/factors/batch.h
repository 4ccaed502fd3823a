// A check for models whose batch was changed (--batch, --micro-batches): whether the file's own
// batch is built into the graph. Every node must treat the samples of the batch alike. Example: a
// recurrent model exported with batch 4 that slices x[0:1], x[1:2], x[2:3], x[3:4] and treats each
// on its own would ignore all other samples of a batch of 8; it is refused.
#ifndef YUBA_COMPILER_IMPORT_FACTORS_BATCH_H_
#define YUBA_COMPILER_IMPORT_FACTORS_BATCH_H_

#include <vector>

#include "absl/status/status.h"
#include "opsemantics/definition/graph.h"

namespace yuba::onnx {

// `inputs` are the tensors whose dimension 0 was replaced. An error (InvalidArgument) that names
// the first node that reads only some elements of that dimension: with another batch than the
// file's, the model would compute something else without a word.
absl::Status CheckBatch(const Graph& graph, const std::vector<TensorId>& inputs);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FACTORS_BATCH_H_
