// Folders of tensors as ONNX's test data has them: input_0.pb or input_0.npy, ... are values of
// inputs, output_0.pb, ... what outputs should be. Errors are the user's and name the file.
#ifndef YUBA_TOOLS_RUN_DATA_STEP_FILES_H_
#define YUBA_TOOLS_RUN_DATA_STEP_FILES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/run/data/batches.h"
#include "tools/run/run_ports.h"

namespace yuba::tools {

// Which entry is given values, and what is expected of it.
struct FolderUse {
  std::string entry;
  size_t outputs = 0;  // as many have expected values (--expect); 0: none is compared
};

// What the folder gives to the inputs of an entry; a value that is missing is no error here.
absl::StatusOr<StepFiles> ReadFolder(const std::string& dir, const RunPorts& ports,
                                     const FolderUse& use);

// The names of the folder's .npy and .pb files that ReadFolder does not read, in order: of inputs
// that the program does not have, and, where outputs are compared, of outputs that it does not
// have.
std::vector<std::string> UnreadFiles(const std::string& dir, const RunPorts& ports,
                                     const FolderUse& use);

// --input NAME=FILE, for each of `inputs`.
absl::StatusOr<StepFiles> ReadNamedInputs(const std::vector<std::string>& inputs);

// DIR/test_data_set_0, DIR/test_data_set_1, ...; empty where there is none.
std::vector<std::string> FoldersIn(const std::string& dir);

// A batch from each of `folders`, of which there is one at least: in their order, or with a seed in
// an order that it gives, another one in each epoch. What a folder lacks keeps the value that it
// had in the step before. Opening it reads the first one.
absl::StatusOr<std::shared_ptr<Batches>> OpenFolders(std::vector<std::string> folders,
                                                     const RunPorts& ports, const FolderUse& use,
                                                     absl::optional<uint64_t> seed);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_DATA_STEP_FILES_H_
