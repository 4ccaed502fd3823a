// The cases of ONNX's own backend tests.
#ifndef YUBA_TESTS_COMPILER_ONNX_CASES_H_
#define YUBA_TESTS_COMPILER_ONNX_CASES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "opsemantics/interpret.h"

namespace yuba {

// One case, imported. `values` has a value for each input and each parameter that came without one,
// by name; `expected` one for each output.
struct OnnxCase {
  Model model;
  std::map<std::string, TensorValue> values;
  std::vector<TensorValue> expected;
};

// The model's outputs. An error in which "not supported" stands is no failure.
using CaseRunner = std::function<absl::StatusOr<std::vector<TensorValue>>(const OnnxCase&)>;

// By the interpreter, on one device.
absl::StatusOr<std::vector<TensorValue>> RunCaseWhole(const OnnxCase& onnx_case);

struct CaseCount {
  int passed = 0;
  std::map<std::string, int> skipped;  // by reason
};

std::string ToString(const CaseCount& count);  // "598 passed; skipped: 2 with sequences, ..."

bool HasOnnxCases();  // whether libonnx-testdata is installed

// Runs the cases in /usr/share/libonnx-testdata/data/GROUP; all that is supported must give what
// ONNX expects.
CaseCount RunOnnxCases(const std::string& group, const CaseRunner& run);

}  // namespace yuba

#endif  // YUBA_TESTS_COMPILER_ONNX_CASES_H_
