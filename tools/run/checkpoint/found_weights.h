// The values that parameters of a program find in files (--weights), among other names, forms and
// ties; resume.cc and export.cc look up names that are the program's own, or the file's.
//
//   YUBA_ASSIGN_OR_RETURN(const WeightFiles files, ReadWeights("w.safetensors"));
//   YUBA_ASSIGN_OR_RETURN(const FoundWeights found, FindWeights(files, PortsOf(program)));
//   found.values.at("q.weight, transposed");  // q.weight of the file
#ifndef YUBA_TOOLS_RUN_CHECKPOINT_FOUND_WEIGHTS_H_
#define YUBA_TOOLS_RUN_CHECKPOINT_FOUND_WEIGHTS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/values/stored_form.h"
#include "opsemantics/values/tensor_data.h"
#include "runtime/session.h"
#include "tools/run/checkpoint/weights.h"
#include "tools/run/run_ports.h"

namespace yuba::tools {

// What the parameters of a program find in the files.
struct FoundWeights {
  std::map<std::string, StoredView> values;   // by parameter
  std::map<std::string, TensorData> made;     // the same, where it is put together of several
  std::map<std::string, JoinedParts> joined;  // where it is joined of several and not all are there
  // Other values of numbers that are part of the code (RunPorts::numbers).
  std::map<std::string, TensorData> numbers;
  std::vector<std::string> missing;  // weights of the program, or parts, that have no value
  // Parameters that the model's file lacks (RunPorts::missing_parameters), of which the files have
  // values.
  std::vector<std::string> of_missing;
  int constants = 0;                // its other parameters that have none
  int states = 0;                   // tensors that are an optimizer's: a run begins anew with them
  std::vector<std::string> unused;  // other tensors that are of no parameter
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

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_CHECKPOINT_FOUND_WEIGHTS_H_
