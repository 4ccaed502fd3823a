#ifndef YUBA_COMPILER_KERNELS_DUMP_H_
#define YUBA_COMPILER_KERNELS_DUMP_H_

#include <string>

#include "absl/status/status.h"

namespace yuba::kernels {

// Writes a file into the folder, which is made where it is missing. Nothing happens where the
// folder is "".
absl::Status Dump(const std::string& folder, const std::string& name, const std::string& text);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_DUMP_H_
