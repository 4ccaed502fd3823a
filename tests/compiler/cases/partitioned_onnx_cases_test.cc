// ONNX's own backend tests, partitioned: every case whose operators are known is planned for
// several device counts, compiled, and run on virtual devices with poisoned memory and instructions
// in any order.
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <string>

#include "tests/compiler/cases/partitioned_case.h"
#include "tests/support/part.h"

namespace yuba::compiler {
namespace {

// How many cases of the group pass on one device.
int Passing(const std::string& group) {
  static std::map<std::string, int> passing;
  const auto [at, is_new] = passing.emplace(group, 0);
  if (is_new) at->second = RunOnnxCases(group, RunCaseWhole).passed;
  return at->second;
}

// Of `every` cases one is partitioned, number `turn` first, and the others run whole; all are with
// `tools/test --all`.
void CheckPartitioned(const Partitioning& partitioning, int every, int turn) {
  if (!HasOnnxCases()) {
    WARN("SKIP: libonnx-testdata is not installed");
    return;
  }
  int partitioned = 0;
  for (const char* group : {"simple", "pytorch-operator", "pytorch-converted", "node"}) {
    int number = 0;
    const CaseCount count = RunOnnxCases(group, [&](const OnnxCase& onnx_case) {
      if (number++ % every != turn && !TriesAll()) return RunCaseWhole(onnx_case);
      ++partitioned;
      return RunCasePartitioned(onnx_case, partitioning);
    });
    std::cout << partitioning.devices << " devices, " << group << ": " << ToString(count) << ", "
              << partitioned << " partitioned so far\n";
    CHECK(count.passed == Passing(group));
  }
  CHECK(partitioned > 100);
}

// Each on one of these numbers of devices.
TEST_CASE("ONNX cases on 2 devices") { CheckPartitioned({2}, 4, 0); }
TEST_CASE("ONNX cases on 3 devices") { CheckPartitioned({3}, 4, 1); }
TEST_CASE("ONNX cases on 8 devices") { CheckPartitioned({8}, 4, 2); }
TEST_CASE("ONNX cases on 6 devices by plans that nobody would choose") {
  CheckPartitioned({6, false}, 4, 3);
}

}  // namespace
}  // namespace yuba::compiler
