// ONNX's own backend tests, partitioned: every case whose operators are known is planned for
// several device counts, compiled, and run on virtual devices with poisoned memory and instructions
// in any order.
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/compiler/cases/partitioned_case.h"

namespace yuba::compiler {
namespace {

void CheckPartitioned(const Partitioning& partitioning) {
  if (!HasOnnxCases()) {
    WARN("SKIP: libonnx-testdata is not installed");
    return;
  }
  const auto run = [&](const OnnxCase& onnx_case) {
    return RunCasePartitioned(onnx_case, partitioning);
  };
  for (const char* group : {"simple", "pytorch-operator", "pytorch-converted", "node"}) {
    const CaseCount count = RunOnnxCases(group, run);
    std::cout << partitioning.devices << " devices, " << group << ": " << ToString(count) << "\n";
    CHECK(count.passed == RunOnnxCases(group, RunCaseWhole).passed);
  }
}

TEST_CASE("ONNX cases on 2 devices") { CheckPartitioned({2}); }
TEST_CASE("ONNX cases on 3 devices") { CheckPartitioned({3}); }
TEST_CASE("ONNX cases on 8 devices") { CheckPartitioned({8}); }
TEST_CASE("ONNX cases on 6 devices by plans that nobody would choose") {
  CheckPartitioned({6, false});
}

}  // namespace
}  // namespace yuba::compiler
