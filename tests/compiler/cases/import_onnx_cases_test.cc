// ONNX's own backend tests: every case whose operators are known must give the expected output.
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/compiler/cases/onnx_cases.h"

namespace yuba::compiler {
namespace {

// `least` is what passes today: losing an operator must show.
void CheckGroup(const std::string& group, int least) {
  if (!HasOnnxCases()) {
    WARN("SKIP: libonnx-testdata is not installed");
    return;
  }
  const CaseCount count = RunOnnxCases(group, RunCaseWhole);
  std::cout << group << ": " << ToString(count) << "\n";
  CHECK(count.passed >= least);
}

TEST_CASE("ONNX node cases") { CheckGroup("node", 806); }
TEST_CASE("ONNX simple cases") { CheckGroup("simple", 14); }
TEST_CASE("ONNX cases of PyTorch operators") { CheckGroup("pytorch-operator", 34); }
TEST_CASE("ONNX cases converted from PyTorch") { CheckGroup("pytorch-converted", 82); }

}  // namespace
}  // namespace yuba::compiler
