// New values for the initializers of a file, so that trained weights go back into the model that
// they came from.
#ifndef YUBA_COMPILER_IMPORT_FILE_REPLACE_VALUES_H_
#define YUBA_COMPILER_IMPORT_FILE_REPLACE_VALUES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba::onnx {

struct ReplacedValues {
  std::string model;                // the bytes of the new file
  std::vector<std::string> unused;  // names in `values` that the model has no place for
  std::vector<std::string> kept;    // initializers of several floats that have no new value
  int replaced = 0;
};

// Two initializers that are one weight, as `yuba partition --tie` makes them: `tied` gets the new
// value of `kept`, transposed where the file has it so.
struct TiedNames {
  std::string tied, kept;
};

// The model in `path` with the values of its initializers that `values` names; inputs that its
// training_info begins become initializers where they have one. All else stays as it
// is, metadata and operators among it. Replaced values stand in the file itself; external data of
// others are still named by the file, relative to its folder. Errors name the file: no initializer
// has a name of `values`, a value has another shape than its initializer, or a type that it does
// not widen (Widened of opsemantics/values/tensor_data.h), ties that the file has no equal
// initializers for, the new file is larger than a protobuf can be (2 GB).
absl::StatusOr<ReplacedValues> ReplaceValues(const std::string& path,
                                             const std::map<std::string, StoredView>& values,
                                             const std::vector<TiedNames>& ties = {});

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_REPLACE_VALUES_H_
