// A model run whole by the interpreter: the oracle of everything that is cut.
#ifndef YUBA_TESTS_COMPILER_SUPPORT_WHOLE_MODEL_H_
#define YUBA_TESTS_COMPILER_SUPPORT_WHOLE_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx.h"
#include "opsemantics/oracle/interpret.h"

namespace yuba::compiler {

const OperatorLibrary& BuiltInLibrary();

// With the operators that are built in where the options name none.
absl::StatusOr<Model> ImportFile(const std::string& path, onnx::ImportOptions options = {});

// A tensor file of ONNX's test data.
absl::StatusOr<TensorValue> ReadTestTensor(const std::string& path);

// The outputs for `inputs`, in the order of the model; floats. Missing parameters are an error.
absl::StatusOr<std::vector<TensorValue>> RunWhole(const Model& model,
                                                  const std::vector<TensorValue>& inputs);

// The largest difference relative to 1 or to the value; huge where shapes or types differ.
double LargestError(const TensorValue& actual, const std::vector<int64_t>& shape,
                    const TensorValue& expected);

// Runs test_data_set_N beside the model: the largest error over all its outputs.
absl::StatusOr<double> ErrorOnTestData(const std::string& folder, int set,
                                       onnx::ImportOptions options = {});

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_SUPPORT_WHOLE_MODEL_H_
