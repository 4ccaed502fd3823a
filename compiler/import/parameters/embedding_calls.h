// What calls of PyTorch's embedding say of gradients and the nodes made of them, Gather, do not.
#ifndef YUBA_COMPILER_IMPORT_PARAMETERS_EMBEDDING_CALLS_H_
#define YUBA_COMPILER_IMPORT_PARAMETERS_EMBEDDING_CALLS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/options.h"
#include "compiler/import/parameters/export_record.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// A line for each row that is padding and is to be trained nevertheless. The user's error where a
// gradient is scaled by the frequency of rows.
//
// Example: Gather(e.weight, x), part of aten.embedding(%p_e_weight, %x, 0): "row 0 of e.weight is
// padding (padding_idx), which PyTorch does not train: --freeze e.weight=0".
absl::StatusOr<std::vector<std::string>> NotesOfEmbeddings(const ::onnx::GraphProto& graph,
                                                           const ExportRecord& record,
                                                           const TrainOptions& options);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_PARAMETERS_EMBEDDING_CALLS_H_
