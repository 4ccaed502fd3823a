// A file as it was read: all that a model is made of, with factors or without. Models share it.
#ifndef YUBA_COMPILER_IMPORT_SOURCE_H_
#define YUBA_COMPILER_IMPORT_SOURCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/options.h"
#include "compiler/train/train.h"

namespace yuba::onnx {

struct Source {
  std::string path;
  std::vector<std::string> file_inputs, file_outputs;  // as in Model
  int nodes = 0;                                       // in the file
  int64_t opset = 0;
  bool init = false;  // as in ImportOptions
  OnnxGraph graph;
  absl::optional<compiler::TrainRecipe> train;
  std::map<std::string, std::string> missing_parameters = {};  // as in Model
};

// Reads the file `path` and translates it, once for each entry of the options; options.library must
// not be null, and is not kept. Errors are of the user (InvalidArgument; file errors as they come)
// and name the node, its operator, the opset and the next step; unsupported operators are listed
// all at once. Never crashes, whatever the bytes; reads no file but `path` and its external data.
absl::StatusOr<std::shared_ptr<const Source>> ReadSource(const std::string& path,
                                                         const ImportOptions& options);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_SOURCE_H_
