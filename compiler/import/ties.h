// Weights that a file holds twice, and weights that are to be one: an embedding and the product
// that makes logits of it. Exporters write both, the second often transposed; training would then
// change each on its own.
#ifndef YUBA_COMPILER_IMPORT_TIES_H_
#define YUBA_COMPILER_IMPORT_TIES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/options.h"
#include "compiler/import/translate/node.h"

namespace yuba::onnx {

// Makes readers of ties[i].tied read ties[i].kept, transposed where the shapes, or of square
// matrices the values, say so. Called in each entry before its nodes are translated. The user's
// error where one of them is no parameter that a node reads, where their types, shapes or values
// differ, or where `kept` is tied itself.
absl::Status TieParameters(const std::vector<TieOptions>& ties, NodeContext& context,
                           OnnxGraph& graph);

// For each matrix of floats that equals an earlier one, or its transpose, a line that says so and
// how to tie them. Fills, and values that are not in the file, are equal to none.
std::vector<std::string> EqualParameters(const OnnxGraph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TIES_H_
