// Fingerprints of data: by type, shape and a sample of the values it is known again, wherever it
// lies and in which of the formats.
#ifndef YUBA_TOOLS_RUN_DATA_DATA_PRINT_H_
#define YUBA_TOOLS_RUN_DATA_DATA_PRINT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/values/tensor_data.h"
#include "tools/run/run_ports.h"

namespace yuba::tools {

// "f32[60000, 784] 3c1f..."; of more than a megabyte of values one is read, in pieces from all of
// it.
absl::StatusOr<std::string> PrintOf(const PortType& type, const RangeReader& values);
std::string PrintOf(const TensorData& tensor);

// "300 files 1f3a...", by their sizes, and a megabyte of all of them.
absl::StatusOr<std::string> PrintOf(const std::vector<std::string>& files);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_DATA_DATA_PRINT_H_
