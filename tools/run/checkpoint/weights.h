// Values for parameters by name, from files of safetensors (--weights): one file, or a folder with
// several and an index, as Hugging Face has them. found_weights.h finds those of a program.
//
// Of tensors that share their elements a file stores one, and its metadata, or the index's, names
// the others: {"lm_head.weight": "wte.weight"}. Such names have values too.
#ifndef YUBA_TOOLS_RUN_CHECKPOINT_WEIGHTS_H_
#define YUBA_TOOLS_RUN_CHECKPOINT_WEIGHTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/values/stored_form.h"
#include "opsemantics/values/tensor_data.h"
#include "opsemantics/values/tensor_file.h"

namespace yuba::tools {

struct WeightFiles {
  std::string path;
  SafetensorsFile file;  // of a folder: of all files that its index lists; metadata: the index's
  struct SharedName {
    std::string stored;  // the tensor that has the value
    bool transposed = false;
  };
  std::map<std::string, SharedName> shared;  // names without a tensor of their own
  // Of a checkpoint of --save: parameters of the user's program that it has in another form alone.
  struct FormedName {
    std::string stored;  // the tensor that they are part of
    StoredForm form;
    size_t position = 0;  // among form.parameters
  };
  std::map<std::string, FormedName> formed;
};

// Reads headers alone. Where `prefix` is not empty, it is taken away, once, from the names that
// begin with it. The user's error where none does, or where two names become one.
absl::StatusOr<WeightFiles> ReadWeights(const std::string& path, const std::string& prefix = "");

// The value of that name, stored or shared; none where there is none. The user's error where it is
// of a type that is not read.
absl::StatusOr<absl::optional<StoredView>> FindWeight(const WeightFiles& files,
                                                      const std::string& name);

// The user's error where the two are not of one type, shape and value.
absl::Status CheckEqual(const StoredView& a, const StoredView& b);

// All names with a value of a type that is read.
std::map<std::string, StoredView> AllWeights(const WeightFiles& files);

// The value, of shape `dims`, of a name that is part of another tensor there. The user's error
// where it has another number of elements.
absl::StatusOr<TensorData> ReadFormed(const WeightFiles& files, const std::string& name,
                                      const std::vector<int64_t>& dims);

// Some of the parameters that a tensor of a program is joined of: the others stay as they are.
struct JoinedParts {
  StoredForm form;
  std::map<size_t, StoredView> values;  // by position among form.parameters
};

// `tensor` with these parameters in it. The user's error where one does not fit.
absl::StatusOr<TensorData> WithParts(const JoinedParts& parts, TensorData tensor);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_CHECKPOINT_WEIGHTS_H_
