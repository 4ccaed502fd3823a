// The file of --tune: a tuning of cuBLASLt's products (runtime/cuda/tuning.h), read before anything
// is compiled and written once products have been timed. Errors are the user's and name the file.
#ifndef YUBA_TOOLS_RUN_TUNING_FILE_H_
#define YUBA_TOOLS_RUN_TUNING_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/tuning.h"

namespace yuba::tools {

// The tuning of the file; an empty one where there is no file but can be one. A file that is there
// and cannot be replaced will do as long as nothing has to be timed (Tuning::writable).
absl::StatusOr<std::shared_ptr<cuda::Tuning>> ReadTuning(const std::string& path);

// Writes the file anew, whole or not at all, where something was added to the tuning that was read.
// What other runs have added meanwhile stays.
absl::Status SaveTuning(const std::string& path, cuda::Tuning& tuning);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_TUNING_FILE_H_
