// How a file is imported: sizes that the file leaves open, values that decide shapes, and whether
// dimensions get factors. These options are part of what the graph's hash depends on.
#ifndef YUBA_COMPILER_IMPORT_OPTIONS_H_
#define YUBA_COMPILER_IMPORT_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/language/library.h"
#include "opsemantics/values/tensor_data.h"

namespace yuba::onnx {

struct ImportOptions {
  std::map<std::string, int64_t> dims;  // --dim NAME=N: symbolic dimensions
  absl::optional<int64_t> batch;  // --batch N: dimension 0 of the inputs that are no parameters
  std::map<std::string, TensorData> bind;  // --bind NAME=FILE: inputs that are known when planning
  // --state OUT=IN: the output OUT is the next value of the input or initializer IN.
  std::map<std::string, std::string> state;
  bool factors = true;  // false: no dimension has factors, as in `--space tofu`
  const OperatorLibrary* library = nullptr;  // the descriptions; not owned, needed
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_OPTIONS_H_
