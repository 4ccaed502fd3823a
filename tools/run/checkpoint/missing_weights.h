// What stands between a file of weights and a model: weights that the file does not have, and
// values of parameters that the model does not have by themselves, since an exporter computed with
// them or stored them once with others (compiler::Model::missing_parameters, `missing` below).
#ifndef YUBA_TOOLS_RUN_CHECKPOINT_MISSING_WEIGHTS_H_
#define YUBA_TOOLS_RUN_CHECKPOINT_MISSING_WEIGHTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/values/stored_form.h"
#include "tools/run/checkpoint/weights.h"

namespace yuba::tools {

// Whether a tensor is called as one that the parameter is, or is part of, in another form: "w,
// transposed" of w, or "a and b, joined" of a. Older checkpoints and compiled programs say no more.
bool IsFormOf(const std::string& tensor, const std::string& parameter);

// How messages call a tensor that is computed of parameters of the user's program.
std::string ComputedText(const StoredForm& form);

// The user's error for weights that a file does not have.
absl::Status MissingWeights(const std::string& path, const std::vector<std::string>& missing);

// Whether the files are a checkpoint of the model, whose tensors are the model's own by their
// names, and none of another export, which has some of the parameters that the model lacks.
bool IsCheckpointOf(const WeightFiles& files, const std::map<std::string, std::string>& missing);

// Of the parameters that a model's file lacks, those that the files have another value of than of
// the tensor that the model has for both. The user's error where a value is of a type that is not
// read.
absl::StatusOr<std::vector<std::string>> ValuesOfMissing(
    const WeightFiles& files, const std::map<std::string, std::string>& missing);

// The user's error for those.
absl::Status MissingPlaces(const std::string& path, const std::vector<std::string>& names);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_CHECKPOINT_MISSING_WEIGHTS_H_
