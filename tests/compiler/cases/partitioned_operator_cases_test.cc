// The cases of tests/models/operators, every operator in settings away from its defaults,
// partitioned on several devices; of each number of devices half of them (part.h).
#include <catch2/catch.hpp>

#include "tests/compiler/cases/partitioned_case.h"
#include "tests/support/part.h"

namespace yuba::compiler {
namespace {

void CheckPartitioned(int devices) {
  size_t number = static_cast<size_t>(devices);
  const auto run = [&](const OnnxCase& one) {
    return IsTried(number++, 2) ? RunCasePartitioned(one, Partitioning{devices})
                                : RunCaseWhole(one);
  };
  const CaseCount count = RunCases("tests/models/operators", run, 1e-5);
  CHECK(count.passed > 0);
  CHECK(count.skipped.empty());
}

TEST_CASE("operators on 2 devices") { CheckPartitioned(2); }
TEST_CASE("operators on 3 devices") { CheckPartitioned(3); }

}  // namespace
}  // namespace yuba::compiler
