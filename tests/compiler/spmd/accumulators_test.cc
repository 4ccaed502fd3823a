// Programs in which partials stay unreduced, for an accumulator or through nodes that are linear in
// them: any plan computes the whole and moves what it costs, and CheckCoverage refuses a program
// whose exchange within groups is wrong.
#include <catch2/catch.hpp>

#include "compiler/model.h"
#include "compiler/spmd/spmd.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/emulator.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

struct Case {
  Model model;
  search::Plan plan;
  program::Program program;
};

using RandomModelFor = Model (*)(const Mesh&, Random&);

Case RandomCase(RandomModelFor random_model, int seed, Arithmetic arithmetic) {
  Random random(seed);
  const Mesh mesh = MeshOf(seed % 3 == 0 ? 8 : 2 + seed % 5);
  Case result;
  result.model = random_model(mesh, random);
  result.plan = RandomPlan(result.model.graph, mesh, random);
  result.program = MakeSpmdProgram(result.model, result.plan, arithmetic);
  return result;
}

// Whether the program, run, reads only what is there and gives the whole graph's results; what it
// moves.
bool IsRight(const Case& c, int64_t* moved = nullptr) {
  Random random(7);
  const Arithmetic arithmetic =
      c.program.hash_arithmetic() ? Arithmetic::kHash : Arithmetic::kFloat;
  std::vector<TensorValue> values = RandomValues(c.model.graph, arithmetic, random);
  const Emulation emulation = Emulate(c.program, c.model.graph, values);
  if (moved != nullptr) *moved = emulation.moved_bytes;
  if (!emulation.fault.empty()) return false;
  InterpretGraph(c.model.graph, arithmetic, values);
  for (size_t o = 0; o < emulation.outputs.size(); ++o) {
    const TensorValue& expected = values[c.model.graph.outputs[o]];
    for (size_t i = 0; i < expected.elements.size(); ++i) {
      const Scalar &got = emulation.outputs[o].elements[i], &wanted = expected.elements[i];
      if (arithmetic == Arithmetic::kHash ? got.hash != wanted.hash : got.number != wanted.number) {
        return false;
      }
    }
  }
  return true;
}

bool IsGrouped(const program::Instruction& instruction) {
  return instruction.has_exchange() && instruction.exchange().has_group();
}

TEST_CASE("any plan with sums that stay unreduced computes the whole and moves what it costs") {
  const RandomModelFor random_model = GENERATE(RandomSums, RandomLongSums, RandomLinear);
  int grouped = 0;
  for (int seed = 0; seed < 90; ++seed) {
    INFO("seed " << seed);
    // Values are small integers: their sums are exact in floats.
    const Case c =
        RandomCase(random_model, seed, seed % 2 == 0 ? Arithmetic::kHash : Arithmetic::kFloat);
    const absl::Status cover = CheckCoverage(c.program);
    CHECK_THAT(cover, IsOk());
    const absl::Status faithful = CheckMatchesGraph(c.model.graph, c.program);
    CHECK_THAT(faithful, IsOk());
    int64_t moved = 0;
    CHECK(IsRight(c, &moved));
    if (seed % 2 == 1) CHECK(moved == search::CostOf(c.model.graph, c.plan).bytes());
    for (const auto& instruction : c.program.instructions()) {
      grouped += IsGrouped(instruction);
    }
  }
  CHECK(grouped > 60);
}

TEST_CASE("a program without one of its exchanges within groups is refused") {
  const RandomModelFor random_model = GENERATE(RandomSums, RandomLongSums, RandomLinear);
  int dropped = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const Case whole = RandomCase(random_model, seed, Arithmetic::kHash);
    for (int i = 0; i < whole.program.instructions_size(); ++i) {
      if (!IsGrouped(whole.program.instructions(i))) continue;
      Case broken = whole;
      broken.program.mutable_instructions()->DeleteSubrange(i, 1);
      INFO("seed " << seed << ", instruction " << i);
      CHECK_THAT(CheckCoverage(broken.program),
                 StatusIs(absl::StatusCode::kFailedPrecondition, "instruction "));
      CHECK_FALSE(IsRight(broken));
      // Without its groups, the exchange combines what others keep; in other groups, some partials
      // are lost or come twice.
      broken = whole;
      broken.program.mutable_instructions(i)->mutable_exchange()->clear_group();
      CHECK_THAT(CheckCoverage(broken.program),
                 StatusIs(absl::StatusCode::kFailedPrecondition, "instruction "));
      ++dropped;
    }
  }
  CHECK(dropped > 20);
}

void AddBounds(program::Box* box, std::vector<program::Bound*>* bounds) {
  for (program::Range& range : *box->mutable_dims()) {
    bounds->push_back(range.mutable_begin());
    bounds->push_back(range.mutable_end());
  }
}

// The tables of an exchange within groups, or of a kernel.
std::vector<program::Bound*> BoundsOf(program::Instruction* instruction) {
  std::vector<program::Bound*> bounds;
  if (instruction->has_exchange()) {
    program::Exchange* exchange = instruction->mutable_exchange();
    AddBounds(exchange->mutable_from(), &bounds);
    AddBounds(exchange->mutable_to(), &bounds);
    if (exchange->partials() > 1) bounds.push_back(exchange->mutable_partial());
    if (exchange->has_group()) bounds.push_back(exchange->mutable_group());
    return bounds;
  }
  program::Kernel* kernel = instruction->mutable_kernel();
  for (program::Range& range : *kernel->mutable_indices()) {
    bounds.push_back(range.mutable_begin());
    bounds.push_back(range.mutable_end());
  }
  for (program::Access& operand : *kernel->mutable_operands()) {
    AddBounds(operand.mutable_box(), &bounds);
  }
  AddBounds(kernel->mutable_results(0)->mutable_box(), &bounds);
  return bounds;
}

TEST_CASE(
    "a program of sums that stay unreduced with one wrong number is refused, or still right") {
  const RandomModelFor random_model = GENERATE(RandomSums, RandomLongSums, RandomLinear);
  int refused = 0, right = 0, groups = 0;
  for (int seed = 0; seed < 900; ++seed) {
    Random random(seed);
    Case c = RandomCase(random_model, seed % 45, Arithmetic::kHash);
    auto* instructions = c.program.mutable_instructions();
    program::Instruction* instruction =
        instructions->Mutable(static_cast<int>(random() % instructions->size()));
    const std::vector<program::Bound*> bounds = BoundsOf(instruction);
    if (bounds.empty()) continue;
    program::Bound* bound = bounds[random() % bounds.size()];
    if (IsGrouped(*instruction) && random() % 3 == 0) {
      bound = instruction->mutable_exchange()->mutable_group();
      ++groups;
    }
    const int row = static_cast<int>(random() % bound->values_size());
    bound->set_values(row, bound->values(row) + (random() % 2 == 0 ? 1 : -1));
    INFO("seed " << seed << "\n" << instruction->ShortDebugString());
    if (!CheckCoverage(c.program).ok() || !CheckMatchesGraph(c.model.graph, c.program).ok()) {
      ++refused;
      continue;
    }
    CHECK(IsRight(c));
    ++right;
  }
  CHECK(refused > 400);
  CHECK(groups > 20);
}

}  // namespace
}  // namespace yuba::compiler
