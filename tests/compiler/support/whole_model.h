// A model run whole by the interpreter: the oracle of everything that is partitioned.
#ifndef YUBA_TESTS_COMPILER_SUPPORT_WHOLE_MODEL_H_
#define YUBA_TESTS_COMPILER_SUPPORT_WHOLE_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/options.h"
#include "compiler/model.h"
#include "opsemantics/oracle/interpret.h"

namespace yuba::compiler {

// The operators that are built in; parsed once.
const OperatorLibrary& BuiltInLibrary();

// The model in a file behind the phase `carry`, with the built-in operators where the options name
// no library.
absl::StatusOr<Model> ImportFile(const std::string& path, onnx::ImportOptions options = {});

// A tensor file of ONNX's test data.
absl::StatusOr<TensorValue> ReadTestTensor(const std::string& path);

// The outputs for `inputs`, both in the order of the model, in floats. A parameter without a value
// is an error.
absl::StatusOr<std::vector<TensorValue>> RunWhole(const Model& model,
                                                  const std::vector<TensorValue>& inputs);

// The largest difference of any element, relative to 1 or to the value, whichever is larger;
// infinite where shapes or types differ. `shape` is the shape of `actual` as the user knows it.
double LargestError(const TensorValue& actual, const std::vector<int64_t>& shape,
                    const TensorValue& expected);

// Runs model.onnx in `folder` on the inputs of test_data_set_<set> beside it, and returns the
// largest error over all its outputs.
absl::StatusOr<double> ErrorOnTestData(const std::string& folder, int set,
                                       onnx::ImportOptions options = {});

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_SUPPORT_WHOLE_MODEL_H_
