// A case of ONNX's layout, planned, compiled and run on several virtual devices.
#ifndef YUBA_TESTS_COMPILER_CASES_CUT_CASE_H_
#define YUBA_TESTS_COMPILER_CASES_CUT_CASE_H_

#include <vector>

#include "tests/compiler/cases/onnx_cases.h"

namespace yuba::compiler {

// The plan that the search finds for some devices, or any plan at all.
struct Cutting {
  int devices = 1;
  bool search = true;
};

// The outputs; memory is poisoned and instructions run in any order.
absl::StatusOr<std::vector<TensorValue>> RunCasePartitioned(const OnnxCase& onnx_case,
                                                            const Cutting& cutting);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_CASES_CUT_CASE_H_
