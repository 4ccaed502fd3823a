// ONNX's own backend tests: every case whose operators are known must give the expected output.
#include <catch2/catch.hpp>

#include "tests/compiler/onnx_cases.h"

namespace yuba {
namespace {

struct Count {
  int passed = 0, unsupported = 0;
};

Count RunGroup(const std::string& group) {
  Count count;
  for (const std::string& folder : OnnxCases(group)) {
    const CaseResult result = RunOnnxCase(folder);
    INFO(folder << ": " << result.reason);
    CHECK(result.outcome != CaseResult::kFailed);
    count.passed += result.outcome == CaseResult::kPassed;
    count.unsupported += result.outcome == CaseResult::kUnsupported;
  }
  return count;
}

// `least` is what passes today: losing an operator must show.
void CheckGroup(const std::string& group, int least) {
  if (OnnxCases(group).empty()) {
    WARN("SKIP: libonnx-testdata is not installed");
    return;
  }
  const Count count = RunGroup(group);
  INFO(count.passed << " passed, " << count.unsupported << " not supported");
  CHECK(count.passed >= least);
}

TEST_CASE("ONNX node cases") { CheckGroup("node", 598); }
TEST_CASE("ONNX simple cases") { CheckGroup("simple", 6); }
TEST_CASE("ONNX cases of PyTorch operators") { CheckGroup("pytorch-operator", 34); }
TEST_CASE("ONNX cases converted from PyTorch") { CheckGroup("pytorch-converted", 80); }

}  // namespace
}  // namespace yuba
