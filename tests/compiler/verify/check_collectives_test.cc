// CheckCollectives passes the marks of RecogniseCollectives, and no others.
#include "compiler/verify/check_collectives.h"

#include <catch2/catch.hpp>

#include "compiler/model.h"
#include "compiler/spmd/recognise.h"
#include "compiler/spmd/spmd.h"
#include "opsemantics/base/collectives.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

program::Program RandomProgram(int seed) {
  Random random(seed);
  const Model model = RandomModel(random);
  const search::Plan plan = RandomPlan(model.graph, yuba::MeshOf(4 + seed % 5), random);
  program::Program program = MakeSpmdProgram(model, plan, Arithmetic::kHash);
  RecogniseCollectives(program);
  return program;
}

// Calls `visit` with each exchange of 40 programs that is marked as a collective.
template <typename Visit>
void ForEachMark(Visit visit) {
  for (int seed = 0; seed < 40; ++seed) {
    program::Program program = RandomProgram(seed);
    INFO("seed " << seed);
    REQUIRE_THAT(CheckCollectives(program), IsOk());
    for (program::Instruction& instruction : *program.mutable_instructions()) {
      if (instruction.has_exchange() && instruction.exchange().collective() != 0) {
        const program::Exchange right = instruction.exchange();
        visit(program, *instruction.mutable_exchange());
        *instruction.mutable_exchange() = right;
      }
    }
  }
}

TEST_CASE("a collective over one axis less is refused") {
  int marks = 0;
  ForEachMark([&](const program::Program& program, program::Exchange& exchange) {
    exchange.mutable_axes()->RemoveLast();
    CHECK_THAT(CheckCollectives(program),
               StatusIs(absl::StatusCode::kFailedPrecondition, "are not those of one"));
    ++marks;
  });
  CHECK(marks > 50);
}

TEST_CASE("gathers are no reductions, and reductions no gathers") {
  ForEachMark([&](const program::Program& program, program::Exchange& exchange) {
    const bool combines = CollectiveAt(exchange.collective())->combines;
    for (const Collective& other : Collectives()) {
      if (other.combines == combines) continue;
      exchange.set_collective(CollectiveNumber(other.name));
      CHECK_THAT(CheckCollectives(program),
                 StatusIs(absl::StatusCode::kFailedPrecondition, "are not those of one"));
    }
  });
}

TEST_CASE("another collective of the same boxes is refused, unless they match it too") {
  int refused = 0, accepted = 0;
  ForEachMark([&](const program::Program& program, program::Exchange& exchange) {
    const std::string name(CollectiveName(exchange.collective()));
    exchange.set_collective(CollectiveNumber(name == "all_gather" ? "permute" : "all_gather"));
    const absl::Status status = CheckCollectives(program);
    ++(status.ok() ? accepted : refused);
    if (!status.ok())
      CHECK_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition, "is marked"));
  });
  CHECK(refused > 50);
  CHECK(accepted == 0);
}

}  // namespace
}  // namespace yuba::compiler
