// How a file is imported: sizes that the file leaves open, values that decide shapes, and whether
// dimensions get factors. These options are part of what the graph's hash depends on.
#ifndef YUBA_COMPILER_IMPORT_OPTIONS_H_
#define YUBA_COMPILER_IMPORT_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/element_type.h"
#include "opsemantics/language/library.h"

namespace yuba::onnx {

// A tensor's value; `data` is row-major and little-endian, the whole tensor.
struct BoundValue {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
  std::string data;
};

struct ImportOptions {
  std::map<std::string, int64_t> dims;  // --dim NAME=N: symbolic dimensions
  absl::optional<int64_t> batch;  // --batch N: dimension 0 of the inputs that are no parameters
  std::map<std::string, BoundValue> bind;  // --bind NAME=FILE: inputs that are known when planning
  bool factors = true;                     // false: no dimension has factors, as in `--space tofu`
  const OperatorLibrary* library = nullptr;  // the descriptions; not owned, needed
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_OPTIONS_H_
