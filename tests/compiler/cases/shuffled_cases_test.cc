// The cases of tests/models/operators and of ONNX with every tensor's dimensions in memory in an
// order at random, whole and on several devices, by plans that the search finds and by others.
#include <catch2/catch.hpp>

#include "tests/compiler/cases/partitioned_case.h"
#include "tests/support/part.h"

namespace yuba::compiler {
namespace {

// Of each number of devices a third of the cases.
TEST_CASE("operators with dimensions in any order in memory") {
  for (const int devices : {1, 2, 3}) {
    INFO(devices << " devices");
    size_t number = static_cast<size_t>(devices);
    const auto run = [&](const OnnxCase& one) {
      return IsTried(number++, 3) ? RunCasePartitioned(one, {devices, devices != 3, true})
                                  : RunCaseWhole(one);
    };
    const CaseCount count = RunCases("tests/models/operators", run, 1e-5);
    CHECK(count.passed > 0);
    CHECK(count.skipped.empty());
  }
}

TEST_CASE("ONNX cases with dimensions in any order in memory") {
  if (!HasOnnxCases()) {
    WARN("SKIP: libonnx-testdata is not installed");
    return;
  }
  for (const char* group : {"simple", "pytorch-operator", "pytorch-converted", "node"}) {
    INFO(group);
    size_t number = 0;
    const CaseCount whole = RunOnnxCases(group, RunCaseWhole);
    const CaseCount count = RunOnnxCases(group, [&](const OnnxCase& one) {
      const int devices = 1 + static_cast<int>(number % 3);
      return IsTried(number++, 4) ? RunCasePartitioned(one, {devices, number % 2 == 0, true})
                                  : RunCaseWhole(one);
    });
    CHECK(count.passed == whole.passed);
  }
}

}  // namespace
}  // namespace yuba::compiler
