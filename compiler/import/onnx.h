// The ONNX front end: protobuf in, graph of definitions out. Opset 6 to current; external data.
#ifndef YUBA_COMPILER_IMPORT_ONNX_H_
#define YUBA_COMPILER_IMPORT_ONNX_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "compiler/model.h"
#include "opsemantics/library.h"

namespace yuba {

// A tensor's value: row-major, little-endian.
struct BoundValue {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
  std::string data;
};

struct ImportOptions {
  std::map<std::string, int64_t> dims;  // --dim NAME=N: symbolic dimensions
  absl::optional<int64_t> batch;  // --batch N: dimension 0 of the inputs that are no parameters
  std::map<std::string, BoundValue> bind;  // --bind NAME=FILE: inputs that are known when planning
  bool factors = true;  // false: dimensions have no factors, as in Tofu's space
  const OperatorLibrary* library = nullptr;
};

// Errors name the node, its operator, the opset and the next step: what is unsupported is listed
// all at once. Never crashes on any bytes; reads no file but `path` and its external data.
absl::StatusOr<Model> ImportOnnx(const std::string& path, const ImportOptions& options);

}  // namespace yuba

#endif  // YUBA_COMPILER_IMPORT_ONNX_H_
