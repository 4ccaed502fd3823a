// New values for the initializers of a file, so that trained weights go back into the model that
// they came from.
#ifndef YUBA_COMPILER_IMPORT_FILE_REPLACE_VALUES_H_
#define YUBA_COMPILER_IMPORT_FILE_REPLACE_VALUES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/file/external_data.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba::onnx {

struct ReplacedValues {
  std::string model;                // the bytes of the new file
  std::vector<std::string> unused;  // names in `values` that the model has no place for
  std::vector<std::string> kept;    // initializers of several floats that have no new value
  int replaced = 0;
  ExternalData outside = ExternalData("");  // to be written beside the new file, unless empty
};

// Two initializers that are one weight, as `yuba partition --tie` makes them: `tied` gets the new
// value of `kept`, transposed where the file has it so.
struct TiedNames {
  std::string tied, kept;
};

using PrepareModel = std::function<absl::Status(::onnx::ModelProto&)>;

// The model in `path` with the values of its initializers that `values` names; inputs that its
// training_info begins become initializers where they have one. All else stays as it is, metadata
// and operators among it. Replaced values stand in the file itself, unless it would be larger than
// a protobuf can be (2 GB). Values that are in other files stay there where the new model, which is
// to be written to `new_path`, is in the same folder; else they are taken along. What does not
// stand in the new file is in `outside`. Errors name the file: no initializer has a name of
// `values`, a value has another shape than its initializer, or a type that it does not widen
// (Widens of opsemantics/values/tensor_data.h), ties that the file has no equal initializers for,
// external data that is missing.
// `prepare` is called on the model as it was read, for further initializers. `made` are further
// values, that no file has as they are; they are stored in the model.
absl::StatusOr<ReplacedValues> ReplaceValues(const std::string& path, const std::string& new_path,
                                             const std::map<std::string, StoredView>& values,
                                             const std::vector<TiedNames>& ties = {},
                                             const std::map<std::string, TensorData>& made = {},
                                             const PrepareModel& prepare = nullptr);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_REPLACE_VALUES_H_
