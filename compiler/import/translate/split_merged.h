// Parameters of equal values, which PyTorch's exporter stores once, told apart again: the scales of
// fresh layer norms, biases of zeros, layers that are copies. The calls that nodes are part of name
// the parameters that they were made of.
//
// Example: two nodes LayerNormalization(x, n1.weight, n1.bias), of which the second is part of
// aten.layer_norm(%x, [8], %p_n2_weight, %p_n2_bias): it reads n2.weight and n2.bias then, new
// initializers with the same values.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_SPLIT_MERGED_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_SPLIT_MERGED_H_

#include <string>
#include <vector>

#include "compiler/import/file/export_record.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Adds initializers to the graph, and what is known of them to its record; returns PyTorch's names
// of the parameters that they are. What cannot be told for sure stays as it is.
std::vector<std::string> SplitMerged(::onnx::GraphProto& graph, ExportRecord& record);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_SPLIT_MERGED_H_
