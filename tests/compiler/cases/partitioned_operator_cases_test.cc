// The cases of tests/models/operators, every operator in settings away from its defaults,
// partitioned on several devices.
#include <catch2/catch.hpp>

#include "tests/compiler/cases/partitioned_case.h"

namespace yuba::compiler {
namespace {

void CheckPartitioned(int devices) {
  const auto run = [&](const OnnxCase& one) {
    return RunCasePartitioned(one, Partitioning{devices});
  };
  const CaseCount count = RunCases("tests/models/operators", run, 1e-5);
  CHECK(count.passed > 0);
  CHECK(count.skipped.empty());
}

TEST_CASE("operators on 2 devices") { CheckPartitioned(2); }
TEST_CASE("operators on 3 devices") { CheckPartitioned(3); }

}  // namespace
}  // namespace yuba::compiler
