// Names that a user may have meant.
#ifndef YUBA_COMPILER_IMPORT_FILE_NEAR_NAMES_H_
#define YUBA_COMPILER_IMPORT_FILE_NEAR_NAMES_H_

#include <string>
#include <vector>

namespace yuba::onnx {

// Up to four of `names` that contain `name` or differ from it in few letters, nearest first.
// Example: NearNames("featur", {"x", "feature", "features_2"}) is {"feature", "features_2"}.
std::vector<std::string> NearNames(const std::string& name, const std::vector<std::string>& names);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_NEAR_NAMES_H_
