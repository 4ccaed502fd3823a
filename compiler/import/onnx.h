// The ONNX front end: a file comes in, a graph of definitions goes out. Opset 6 to current, with
// functions and external data. The file's operators become uses of descriptions, shapes come from
// these descriptions, and the graph is simplified and in canonical order when it leaves.
//
// Example: a file with MatMul and Relu on x[12, 48] and w[48, 96] becomes two nodes,
// y[i, j] = sum(k) x[i, k] * w[k, j] and z[i, j] = max(y[i, j], 0), and the parameter w.
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

// The model in the file `path`. options.library must not be null; it is not kept. Errors are of the
// user (InvalidArgument; file errors as they come) and name the node, its operator, the opset and
// the next step; unsupported operators are listed all at once. Never crashes, whatever the bytes;
// reads no file but `path` and its external data.
absl::StatusOr<compiler::Model> ImportOnnx(const std::string& path, const ImportOptions& options);

// The model that ImportOnnx returns with options.factors = `factors`, made of what `model` was made
// of: the file is not read again. FailedPrecondition where `model` has no source.
absl::StatusOr<compiler::Model> WithFactors(const compiler::Model& model, bool factors);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_ONNX_H_
