// Every operator in settings away from its defaults, cut: tests/models/operators.
#include <catch2/catch.hpp>

#include "tests/compiler/cases/cut_case.h"

namespace yuba::compiler {
namespace {

void CheckSharding(int devices) {
  const auto sharding = [&](const OnnxCase& one) {
    return RunCasePartitioned(one, Cutting{devices});
  };
  const CaseCount count = RunCases("tests/models/operators", sharding, 1e-5);
  CHECK(count.passed > 0);
  CHECK(count.skipped.empty());
}

TEST_CASE("operators on 2 devices") { CheckSharding(2); }
TEST_CASE("operators on 3 devices") { CheckSharding(3); }

}  // namespace
}  // namespace yuba::compiler
