// The cases of ONNX's own backend tests, run whole by the interpreter.
#ifndef YUBA_TESTS_COMPILER_ONNX_CASES_H_
#define YUBA_TESTS_COMPILER_ONNX_CASES_H_

#include <string>
#include <vector>

namespace yuba {

// Folders with a model.onnx in /usr/share/libonnx-testdata/data/GROUP, sorted; none where that is
// not installed.
std::vector<std::string> OnnxCases(const std::string& group);

struct CaseResult {
  enum Outcome { kPassed, kUnsupported, kFailed };
  Outcome outcome = kPassed;
  std::string reason;
};
CaseResult RunOnnxCase(const std::string& folder);

}  // namespace yuba

#endif  // YUBA_TESTS_COMPILER_ONNX_CASES_H_
