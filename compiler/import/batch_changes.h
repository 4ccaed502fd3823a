// Whether a model that was read with another number of examples in its batch is still the same
// model. Which dimensions are the batch, the reading as the file has it shows (batch.h); what nodes
// make of the number itself shows only when there is another one.
//
// Examples, of x[4, 8] with dimension 0 the batch: Slice(x, starts=[0], ends=[4]) reads all of 4
// examples and drops 2 of 6. Div(x, Cast(Shape(x)[0])) divides by 4, and in parts of 2 by 2.
#ifndef YUBA_COMPILER_IMPORT_BATCH_CHANGES_H_
#define YUBA_COMPILER_IMPORT_BATCH_CHANGES_H_

#include "absl/status/status.h"
#include "compiler/import/onnx_graph.h"

namespace yuba::onnx {

// The user's error where a value of the entry that translation is at has other dimensions than
// graph.at_batch says, so that a node made fewer examples than it was given, or more. It names the
// node and begins with no flag.
absl::Status CheckSizesAtBatch(const OnnxGraph& graph);

// The user's error where a node computes something else in `part` than in `whole`, which is the
// same entry with another batch, both read with finds_batch: with another constant or literal,
// other elements, another size of what is not the batch, or where other nodes run. Losses and
// statistics of the batch are meant to. It names the node and begins with no flag.
absl::Status CheckSameAtBatch(const OnnxGraph& whole, const OnnxGraph& part);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_BATCH_CHANGES_H_
