// The ONNX front end: protobuf in, graph of definitions out. Opset 6 to current; external data.
#ifndef YUBA_COMPILER_IMPORT_ONNX_H_
#define YUBA_COMPILER_IMPORT_ONNX_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "compiler/import/options.h"
#include "compiler/model.h"
#include "opsemantics/language/library.h"

namespace yuba::onnx {

// Errors name the node, its operator, the opset and the next step: what is unsupported is listed
// all at once. Never crashes on any bytes; reads no file but `path` and its external data.
absl::StatusOr<compiler::Model> ImportOnnx(const std::string& path, const ImportOptions& options);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_ONNX_H_
