// Runs a case in ONNX's layout partitioned: it is planned, compiled with every phase verified, and
// run on several virtual devices. Used as the CaseRunner of onnx_cases.h.
#ifndef YUBA_TESTS_COMPILER_CASES_PARTITIONED_CASE_H_
#define YUBA_TESTS_COMPILER_CASES_PARTITIONED_CASE_H_

#include <vector>

#include "tests/compiler/cases/onnx_cases.h"

namespace yuba::compiler {

// How the plan is made.
struct Partitioning {
  int devices = 1;
  bool search = true;    // the plan that the search finds; false: any legal plan, at random
  bool shuffle = false;  // dimensions lie in memory in any order, at random, of each tensor another
};

// The outputs, in the order of the model. Memory that nobody has written is poisoned, and the
// devices' instructions run interleaved at random.
absl::StatusOr<std::vector<TensorValue>> RunCasePartitioned(const OnnxCase& onnx_case,
                                                            const Partitioning& partitioning);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_CASES_PARTITIONED_CASE_H_
