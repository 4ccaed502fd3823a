// Which version of ONNX's operators a file uses.
#ifndef YUBA_COMPILER_IMPORT_OPSETS_H_
#define YUBA_COMPILER_IMPORT_OPSETS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// The opset of the model's graph; 0 where the model names none and has no operator of ONNX's.
// Errors (InvalidArgument): none is named and one is needed; it is older than the table of versions
// (translate/versions.h), and an operator of the model changed between; with `strict` it is newer
// than kNewestOpset; a function of the model names another one in which an operator of its nodes
// means something else.
absl::StatusOr<int64_t> OpsetOf(const ::onnx::ModelProto& model, bool strict);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_OPSETS_H_
