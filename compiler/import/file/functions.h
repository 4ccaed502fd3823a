// Functions of the model (ONNX's FunctionProto) are put in place of the nodes that call them, so
// that the rest of import sees one flat list of nodes.
#ifndef YUBA_COMPILER_IMPORT_FILE_FUNCTIONS_H_
#define YUBA_COMPILER_IMPORT_FILE_FUNCTIONS_H_

#include "absl/status/status.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Rewrites model.graph so that no node calls a function of the model, at any depth, also inside of
// nodes as If. A function is known by domain, name and overload. Values inside get names of their
// own. Errors (InvalidArgument): two functions with the same three; calls of an overload that there
// is not, with attributes, operands or outputs that the function does not have; functions that call
// each other in a circle; graphs that would grow beyond a million nodes, which is found before they
// grow.
absl::Status InlineFunctions(::onnx::ModelProto& model);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_FUNCTIONS_H_
