// ONNX's own backend tests, cut: every case whose operators are known is planned for several device
// counts, compiled, and run on virtual devices with poisoned memory and instructions in any order.
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/compiler/cases/cut_case.h"

namespace yuba::compiler {
namespace {

void CheckSharding(const Cutting& cutting) {
  if (!HasOnnxCases()) {
    WARN("SKIP: libonnx-testdata is not installed");
    return;
  }
  const auto sharding = [&](const OnnxCase& onnx_case) {
    return RunCasePartitioned(onnx_case, cutting);
  };
  for (const char* group : {"simple", "pytorch-operator", "pytorch-converted", "node"}) {
    const CaseCount count = RunOnnxCases(group, sharding);
    std::cout << cutting.devices << " devices, " << group << ": " << ToString(count) << "\n";
    CHECK(count.passed > 0);  // how many there are, the test of whole cases knows
  }
}

TEST_CASE("ONNX cases on 2 devices") { CheckSharding({2}); }
TEST_CASE("ONNX cases on 3 devices") { CheckSharding({3}); }
TEST_CASE("ONNX cases on 8 devices") { CheckSharding({8}); }
TEST_CASE("ONNX cases on 6 devices by plans that nobody would choose") {
  CheckSharding({6, false});
}

}  // namespace
}  // namespace yuba::compiler
