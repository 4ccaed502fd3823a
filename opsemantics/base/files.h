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

// A descriptor of a regular file, or of a pipe that somebody writes to; the caller closes it. Every
// file that is read is opened by this, and known to CheckOutput from then on.
absl::StatusOr<int> OpenToRead(const std::string& path);

// Whether `path` leads to a file that this process has read.
bool WasRead(const std::string& path);

absl::StatusOr<std::string> ReadFile(const std::string& path);

// Whether WriteFile can write `path`, found out without changing anything: an error where that
// would destroy what this process has read, where `path` leads to what is neither a regular file, a
// terminal, /dev/null or its like, nor a pipe that is open already (/dev/stdout), and where a file
// of that name cannot be made. An empty path is no output.
absl::Status CheckOutput(const std::string& path);

absl::Status MakeFolder(const std::string& path);  // with those above it; it may be there

// Written beside the file that `path` leads to and renamed; straight to it where it is no regular
// file. No half file is left where this fails; it fails where CheckOutput does.
absl::Status WriteFile(const std::string& path, absl::string_view contents);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_FILES_H_
