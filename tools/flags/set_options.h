// One function for each flag of a model: what its value says, in the options of the import.
#ifndef YUBA_TOOLS_FLAGS_SET_OPTIONS_H_
#define YUBA_TOOLS_FLAGS_SET_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "compiler/import/options.h"

namespace yuba::tools {

// Each may be called several times, for a flag that is given again. The user's error names the flag
// and its value, says what is expected, and refuses what contradicts an earlier value.
absl::Status SetFromTensors(const std::string& value, onnx::ImportOptions& options);
absl::Status SetToTensors(const std::string& value, onnx::ImportOptions& options);
absl::Status SetDim(const std::string& value, onnx::ImportOptions& options);
absl::Status SetBatch(const std::string& value, onnx::ImportOptions& options);
absl::Status SetBatchDim(const std::string& value, onnx::ImportOptions& options);
absl::Status SetBind(const std::string& value, onnx::ImportOptions& options);  // reads the file
absl::Status SetState(const std::string& value, onnx::ImportOptions& options);
absl::Status SetCache(const std::string& value, onnx::ImportOptions& options);
absl::Status SetEntry(const std::string& value, onnx::ImportOptions& options);

// Those of training, of which SetTrain is the first.
absl::Status SetTrain(const std::string& value, onnx::ImportOptions& options);
absl::Status SetLoss(const std::string& value, onnx::ImportOptions& options);
absl::Status SetFreeze(const std::string& value, onnx::ImportOptions& options);
absl::Status SetTie(const std::string& value, onnx::ImportOptions& options);
absl::Status SetPrecision(const std::string& value, onnx::ImportOptions& options);

// For rows whose value is a number: one above 0; one of something, at least 1. `what` completes the
// error: "--lr -1: a learning rate is a number above 0", "--clip 0: ...".
absl::Status SetAbove0(const char* flag, const std::string& value, const char* what,
                       double& number);
absl::Status SetCount(const char* flag, const std::string& value, const char* what, int64_t& count);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_SET_OPTIONS_H_
