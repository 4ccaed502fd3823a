// Files: read whole, and written whole or not at all. Paths come from a user, so every function
// that fails says the path and the cause in an error of the user's kind (status.h). Reading from
// a pipe waits up to a second for a writer, and then for its data. The files that the process has
// read are remembered, so that no output overwrites an input; that list is the only state here, and
// several threads may use it.
#ifndef YUBA_OPSEMANTICS_BASE_FILES_H_
#define YUBA_OPSEMANTICS_BASE_FILES_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace yuba {

std::string BaseName(const std::string& path);  // "resnet50.onnx" of "a/resnet50.onnx"
// "a/m.plan.json" of "a/m.onnx" and ".plan.json": the last extension is replaced, or one is added.
std::string WithExtension(const std::string& path, const std::string& extension);

// Whether both exist and are the same file or folder.
bool SameFile(const std::string& a, const std::string& b);

// An open file, which is closed with this object.
class UniqueFd {
 public:
  explicit UniqueFd(int descriptor) : descriptor_(descriptor) {}
  UniqueFd(UniqueFd&& other) noexcept : descriptor_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&&) = delete;
  ~UniqueFd();

  int get() const { return descriptor_; }
  // The descriptor, which the caller closes from now on.
  int Release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;  // -1: none
};

// A regular file, or a pipe that somebody writes to. Every file that is read is opened by this
// function, so that CheckOutput knows it from then on.
absl::StatusOr<UniqueFd> OpenToRead(const std::string& path);

// Whether `path` leads to a file that this process has read.
bool WasRead(const std::string& path);

// The whole contents.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Whether WriteFile can write `path`, found out without changing anything. It is an error where
//   - this process has read the file that `path` leads to;
//   - `path` leads to something that is neither a regular file, a terminal, /dev/null or its like,
//     nor a pipe that is open already (/dev/stdout);
//   - a file of that name cannot be created.
// An empty path means that there is no output, and is no error.
absl::Status CheckOutput(const std::string& path);

// Creates the folder, and the folders above it, where they do not exist.
absl::Status MakeFolder(const std::string& path);

// Writes `contents` to a new file beside the one that `path` leads to and renames it, so that no
// half file is left where this fails. What is no regular file is written directly. Fails wherever
// CheckOutput fails.
absl::Status WriteFile(const std::string& path, absl::string_view contents);

// The same of contents that are made piece by piece: `make` hands them to its argument, in order,
// and returns the first error that this gives. A piece of zeros takes no room on the disk. Where
// `make` fails nothing is written.
using WritePiece = std::function<absl::Status(absl::string_view)>;
absl::Status WriteFileInPieces(const std::string& path,
                               const std::function<absl::Status(const WritePiece&)>& make);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_FILES_H_
