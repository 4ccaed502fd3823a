// Initializers of a file that are parameters of the user's program in another form.
#ifndef YUBA_COMPILER_IMPORT_FORMED_INITIALIZERS_H_
#define YUBA_COMPILER_IMPORT_FORMED_INITIALIZERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/values/stored_form.h"

namespace yuba::onnx {

struct FormedInitializer {
  StoredForm form;
  std::vector<int64_t> dims;  // as it is stored
};

// Those of the file `path` that an output needs, by name, where PyTorch's exporter says of what
// they were made. Fails as ImportOnnx (onnx.h) does where the file cannot be read.
absl::StatusOr<std::map<std::string, FormedInitializer>> FormedInitializers(
    const std::string& path);

// Adds initializers to the model for parameters that it stores once with equal ones, and makes the
// nodes of each read its own, as ImportOnnx does; returns their names in PyTorch.
std::vector<std::string> SplitMergedInitializers(::onnx::ModelProto& model);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FORMED_INITIALIZERS_H_
