// Cases in the layout of ONNX's own backend tests: a folder with model.onnx and test_data_set_N,
// whose input_K.pb and output_K.pb are values. ONNX's own cases (Debian's libonnx-testdata) and
// those of tests/models/operators have it. A case is run by a CaseRunner, which decides whether
// that is whole or partitioned.
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

// One case, imported. `values` has, by name, a value for each input and for each parameter that
// came without one; `expected` has one for each output, in the order of the model.
struct OnnxCase {
  Model model;
  std::map<std::string, TensorValue> values;
  std::vector<TensorValue> expected;
};

// Returns the model's outputs. An error in whose message "not supported" stands is no failure.
using CaseRunner = std::function<absl::StatusOr<std::vector<TensorValue>>(const OnnxCase&)>;

// The folders in `folder` that hold a model, sorted.
std::vector<std::string> CaseFolders(const std::string& folder);

// The largest error of any output of the case in `folder`, relative to 1 or to the value. A null
// `library` stands for the built-in operators.
absl::StatusOr<double> ErrorOfCase(const std::string& folder, const CaseRunner& run,
                                   const OperatorLibrary* library = nullptr);

// A CaseRunner: the interpreter on the whole model, on one device.
absl::StatusOr<std::vector<TensorValue>> RunCaseWhole(const OnnxCase& onnx_case);

struct CaseCount {
  int passed = 0;
  std::map<std::string, int> skipped;  // reason -> how many cases
};

std::string ToString(const CaseCount& count);  // "598 passed; skipped: 2 with sequences, ..."

// The cases of ONNX whose own values are not what the operator's text says: the name of the folder,
// and the values of the first output as ONNX Runtime 1.32 and PyTorch give them.
const std::map<std::string, std::vector<double>>& CorrectedCases();

// Runs the cases in `folder`. Each that is supported must give what is expected (a Catch2 check),
// with an error of at most `tolerance` relative to 1 or to the value. Corrected ones must give the
// corrected values, and are counted as skipped.
CaseCount RunCases(const std::string& folder, const CaseRunner& run, double tolerance);

bool HasOnnxCases();  // whether libonnx-testdata is installed

// Runs the cases in /usr/share/libonnx-testdata/data/GROUP.
CaseCount RunOnnxCases(const std::string& group, const CaseRunner& run);

}  // namespace yuba::compiler

#endif  // YUBA_TESTS_COMPILER_CASES_ONNX_CASES_H_
