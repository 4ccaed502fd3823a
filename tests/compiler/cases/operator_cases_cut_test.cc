// Every operator in settings away from its defaults, cut: tests/models/operators.
#include <catch2/catch.hpp>

#include "tests/compiler/cases/cut_case.h"

namespace yuba::compiler {
namespace {

void CheckCut(int devices) {
  const auto cut = [&](const OnnxCase& one) { return RunCaseCut(one, Cutting{devices}); };
  const CaseCount count = RunCases("tests/models/operators", cut, 1e-5);
  CHECK(count.passed > 0);
  CHECK(count.skipped.empty());
}

TEST_CASE("operators on 2 devices") { CheckCut(2); }
TEST_CASE("operators on 3 devices") { CheckCut(3); }

}  // namespace
}  // namespace yuba::compiler
