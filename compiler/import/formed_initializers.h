// Initializers of a file that are parameters of the user's program in another form, and parameters
// that it does not have each by itself. Example: of a linear layer behind three dimensions
// formed["val_2"] is q.weight, transposed; a batch norm that is folded into a convolution is in
// `missing`.
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

struct FormedInitializers {
  std::map<std::string, FormedInitializer> formed;  // by name, those that an output needs
  std::map<std::string, std::string> missing;       // as compiler::Model::missing_parameters
};

// Those of the file `path`, where PyTorch's exporter says of what they were made. Fails as
// ReadSource (source.h) does where the file cannot be read.
absl::StatusOr<FormedInitializers> FindFormedInitializers(const std::string& path);

// Puts parameters back that the model, of a file in `folder`, does not store each by itself, as
// ReadSource does (parameters/restored_parameters.h); returns PyTorch's names of all whose places
// change. Fails where external data is missing.
absl::StatusOr<std::vector<std::string>> RestoreInitializers(const std::string& folder,
                                                             ::onnx::ModelProto& model);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FORMED_INITIALIZERS_H_
