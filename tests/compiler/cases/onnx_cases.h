// Cases in the layout of ONNX's own backend tests: those, and others beside them.
#ifndef YUBA_TESTS_COMPILER_CASES_ONNX_CASES_H_
#define YUBA_TESTS_COMPILER_CASES_ONNX_CASES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "opsemantics/language/library.h"
#include "opsemantics/oracle/interpret.h"

namespace yuba::compiler {

// One case, imported. `values` has a value for each input and each parameter that came without one,
// by name; `expected` one for each output.
struct OnnxCase {
  Model model;
  std::map<std::string, TensorValue> values;
  std::vector<TensorValue> expected;
};

// The model's outputs. An error in which "not supported" stands is no failure.
using CaseRunner = std::function<absl::StatusOr<std::vector<TensorValue>>(const OnnxCase&)>;

// The folders in `folder` that hold a model, sorted.
std::vector<std::string> CaseFolders(const std::string& folder);

// The largest error of any output of a case; null: the operators that are built in.
absl::StatusOr<double> ErrorOfCase(const std::string& folder, const CaseRunner& run,
                                   const OperatorLibrary* library = nullptr);

// By the interpreter, on one device.
absl::StatusOr<std::vector<TensorValue>> RunCaseWhole(const OnnxCase& onnx_case);

struct CaseCount {
  int passed = 0;
  std::map<std::string, int> skipped;  // by reason
};

std::string ToString(const CaseCount& count);  // "598 passed; skipped: 2 with sequences, ..."

// Runs the cases in a folder; all that is supported must give what is expected, up to `tolerance`
// relative to 1 or the value.
CaseCount RunCases(const std::string& folder, const CaseRunner& run, double tolerance);

bool HasOnnxCases();  // whether libonnx-testdata is installed

// Runs the cases in /usr/share/libonnx-testdata/data/GROUP.
CaseCount RunOnnxCases(const std::string& group, const CaseRunner& run);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_CASES_ONNX_CASES_H_
