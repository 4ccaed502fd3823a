// Files: read whole, written whole or not at all.
#ifndef YUBA_OPSEMANTICS_BASE_FILES_H_
#define YUBA_OPSEMANTICS_BASE_FILES_H_

#include <string>

#include "absl/status/statusor.h"

namespace yuba {

std::string BaseName(const std::string& path);  // "resnet50.onnx" of "a/resnet50.onnx"
std::string WithExtension(const std::string& path, const std::string& extension);

// Whether both exist and are the same file or folder.
bool SameFile(const std::string& a, const std::string& b);

absl::StatusOr<std::string> ReadFile(const std::string& path);

// Written beside the file that `path` leads to and renamed; straight to it where it exists and is
// no regular file. No half file is left where this fails.
absl::Status WriteFile(const std::string& path, absl::string_view contents);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_FILES_H_
