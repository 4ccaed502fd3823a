// Intermediate texts of kernel generation (MLIR, LLVM IR, assembly) for people to look at.
#ifndef YUBA_COMPILER_KERNELS_DUMP_H_
#define YUBA_COMPILER_KERNELS_DUMP_H_

#include <string>

#include "absl/status/status.h"

namespace yuba::kernels {

// Writes `text` to the file `name` in `folder`, which is made where it is missing. Does nothing
// where `folder` is empty. Errors are those of the file system.
absl::Status Dump(const std::string& folder, const std::string& name, const std::string& text);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_DUMP_H_
