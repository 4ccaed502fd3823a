// Functions of the model are put in place of the nodes that call them.
#ifndef YUBA_COMPILER_IMPORT_FILE_FUNCTIONS_H_
#define YUBA_COMPILER_IMPORT_FILE_FUNCTIONS_H_

#include "absl/status/status.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Leaves no call in the graph. Errors: functions that call each other in a circle, graphs that grow
// beyond a million nodes.
absl::Status InlineFunctions(::onnx::ModelProto& model);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_FUNCTIONS_H_
