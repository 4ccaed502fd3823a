// Values for parameters by name, from files of safetensors (--weights): one file, or a folder with
// several and an index, as Hugging Face has them. Here a parameter of a program finds its value
// among those of other names, forms and ties; resume.cc and export.cc look up names that are the
// program's own, or the file's.
//
// Of tensors that share their elements a file stores one, and its metadata, or the index's, names
// the others: {"lm_head.weight": "wte.weight"}. Such names have values too.
#ifndef YUBA_TOOLS_RUN_CHECKPOINT_WEIGHTS_H_
#define YUBA_TOOLS_RUN_CHECKPOINT_WEIGHTS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/values/stored_form.h"
#include "opsemantics/values/tensor_data.h"
#include "opsemantics/values/tensor_file.h"
#include "runtime/session.h"
#include "tools/run/run_ports.h"

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

// What the parameters of a program find in the files.
struct FoundWeights {
  std::map<std::string, StoredView> values;   // by parameter
  std::map<std::string, TensorData> made;     // the same, where it is put together of several
  std::map<std::string, JoinedParts> joined;  // where it is joined of several and not all are there
  // Other values of numbers that are part of the code (RunPorts::numbers).
  std::map<std::string, TensorData> numbers;
  std::vector<std::string> missing;  // weights of the program, or parts, that have no value
  std::vector<std::string> lacking;  // tensors that the model's file lacks (RunPorts::lacking)
  int constants = 0;                 // its other parameters that have none
  int states = 0;                    // tensors that are an optimizer's: a run begins anew with them
  std::vector<std::string> unused;   // other tensors that are of no parameter
};
// A parameter that is two weights of the model (--tie) finds either. What training adds to the
// model, as an optimizer's means, finds nothing: --resume goes on with it. The user's error where a
// value is of a type that is not read, where none fits, and where the two differ.
absl::StatusOr<FoundWeights> FindWeights(const WeightFiles& files, const RunPorts& ports);

// Numbers of the model's file (RunPorts::numbers) that have another value in the files. The user's
// error where one is no single number of floats there.
absl::StatusOr<std::map<std::string, TensorData>> FindNumbers(const WeightFiles& files,
                                                              const RunPorts& ports);

// Gives a parameter of the program the value that was found for it. Errors begin with `path`.
absl::Status SetView(runtime::Session& session, const std::string& name, const StoredView& view,
                     const std::string& path);

// How messages call a tensor that is computed of parameters of the user's program.
std::string ComputedText(const StoredForm& form);

// The user's error for weights that a file does not have.
absl::Status MissingWeights(const std::string& path, const std::vector<std::string>& missing);

// Of `lacking`, what the model lacks, the names that the files have values of.
std::vector<std::string> LackingIn(const WeightFiles& files, const std::set<std::string>& lacking);

// The user's error for those.
absl::Status LackingWeights(const std::string& path, const std::vector<std::string>& lacking);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_CHECKPOINT_WEIGHTS_H_
