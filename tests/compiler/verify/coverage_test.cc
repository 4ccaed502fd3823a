// CheckCoverage and CheckMatchesGraph find programs that are wrong; a program that both let through
// computes the right thing.
#include "compiler/verify/coverage.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/model.h"
#include "compiler/spmd/spmd.h"
#include "compiler/spmd/tables.h"
#include "compiler/verify/matches_graph.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/emulator.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

struct Case {
  Model model;
  program::Program program;
};

Case RandomCase(int seed) {
  Random random(seed);
  Case result;
  result.model = RandomModel(random);
  const search::Plan plan = RandomPlan(result.model.graph, yuba::MeshOf(2 + seed % 5), random);
  result.program = MakeSpmdProgram(result.model, plan, Arithmetic::kHash);
  return result;
}

// Whether the program, run, reads only what is there and gives the whole graph's results.
bool IsRight(const Case& c) {
  Random random(7);
  std::vector<TensorValue> values = RandomValues(c.model.graph, Arithmetic::kHash, random);
  const Emulation emulation = Emulate(c.program, c.model.graph, values);
  if (!emulation.fault.empty()) return false;
  InterpretGraph(c.model.graph, Arithmetic::kHash, values);
  for (size_t o = 0; o < emulation.outputs.size(); ++o) {
    const TensorValue& expected = values[c.model.graph.outputs[o]];
    for (size_t i = 0; i < expected.elements.size(); ++i) {
      if (emulation.outputs[o].elements[i].hash != expected.elements[i].hash) return false;
    }
  }
  return true;
}

// Whether it brings a tensor to its owners from its slice owners, which combined its partials.
bool FromSliceOwners(const program::Exchange& exchange) {
  return !exchange.reduce() && exchange.source() == exchange.destination();
}

TEST_CASE("a program without one of its exchanges is refused") {
  int dropped = 0;
  for (int seed = 0; seed < 60; ++seed) {
    const Case whole = RandomCase(seed);
    for (int i = 0; i < whole.program.instructions_size(); ++i) {
      if (!whole.program.instructions(i).has_exchange()) continue;
      Case broken = whole;
      broken.program.mutable_instructions()->DeleteSubrange(i, 1);
      INFO("seed " << seed << ", instruction " << i);
      if (FromSliceOwners(whole.program.instructions(i).exchange()) && IsRight(broken)) {
        continue;  // nobody reads what slice owners bring to the other owners
      }
      // "which nothing has written" of what is read, "nothing writes" of an output.
      CHECK_THAT(CheckCoverage(broken.program),
                 StatusIs(absl::StatusCode::kFailedPrecondition, "nothing "));
      CHECK_FALSE(IsRight(broken));
      ++dropped;
    }
  }
  CHECK(dropped > 100);
}

std::vector<program::Bound*> BoundsOf(program::Box* box) {
  std::vector<program::Bound*> bounds;
  for (program::Range& range : *box->mutable_dims()) {
    bounds.push_back(range.mutable_begin());
    bounds.push_back(range.mutable_end());
  }
  return bounds;
}

// The tables of one instruction that are not empty.
std::vector<program::Bound*> BoundsOf(program::Instruction* instruction) {
  std::vector<program::Bound*> bounds;
  const auto add = [&](program::Box* box) {
    for (program::Bound* bound : BoundsOf(box)) bounds.push_back(bound);
  };
  if (instruction->has_exchange()) {
    program::Exchange* exchange = instruction->mutable_exchange();
    add(exchange->mutable_from());
    add(exchange->mutable_to());
    if (exchange->partials() > 1) bounds.push_back(exchange->mutable_partial());
  } else {
    program::Kernel* kernel = instruction->mutable_kernel();
    for (program::Range& range : *kernel->mutable_indices()) {
      bounds.push_back(range.mutable_begin());
      bounds.push_back(range.mutable_end());
    }
    for (program::Access& operand : *kernel->mutable_operands()) add(operand.mutable_box());
    add(kernel->mutable_results(0)->mutable_box());
  }
  return bounds;
}

TEST_CASE("a program with one wrong number is refused, or still right") {
  int refused = 0, right = 0;
  for (int seed = 0; seed < 1200; ++seed) {
    Random random(seed);
    Case c = RandomCase(seed % 60);
    auto* instructions = c.program.mutable_instructions();
    program::Instruction* instruction =
        instructions->Mutable(static_cast<int>(random() % instructions->size()));
    const std::vector<program::Bound*> bounds = BoundsOf(instruction);
    if (bounds.empty()) continue;
    program::Bound* bound = bounds[random() % bounds.size()];
    const int row = static_cast<int>(random() % bound->values_size());
    bound->set_values(row, bound->values(row) + (random() % 2 == 0 ? 1 : -1));
    INFO("seed " << seed << "\n" << instruction->ShortDebugString());
    const absl::Status cover = CheckCoverage(c.program);
    if (!cover.ok()) {
      ++refused;
      continue;
    }
    CHECK(IsRight(c));
    ++right;
  }
  CHECK(refused > 500);
  CHECK(right > 10);  // not every wrong number breaks a program
}

// Two indices are cut over the same mesh axes: all parts of each index occur, but of their
// combinations only those on a diagonal are computed.
// The program beside itself: buffers, instructions and outputs twice, functions once.
program::Program Twice(const program::Program& once) {
  program::Program twice = once;
  const int shift = once.buffers_size();
  for (const program::Buffer& buffer : once.buffers()) *twice.add_buffers() = buffer;
  for (const program::Instruction& instruction : once.instructions()) {
    program::Instruction* added = twice.add_instructions();
    *added = instruction;
    if (added->has_exchange()) {
      added->mutable_exchange()->set_source(instruction.exchange().source() + shift);
      added->mutable_exchange()->set_destination(instruction.exchange().destination() + shift);
      continue;
    }
    for (program::Access& operand : *added->mutable_kernel()->mutable_operands()) {
      operand.set_buffer(operand.buffer() + shift);
    }
    program::Access* result = added->mutable_kernel()->mutable_results(0);
    result->set_buffer(result->buffer() + shift);
  }
  for (const program::Port& port : once.outputs()) {
    program::Port* added = twice.add_outputs();
    *added = port;
    added->set_name(port.name() + " again");
    added->set_buffer(port.buffer() + shift);
  }
  return twice;
}

// What is wrong, without the number of the instruction.
std::string Fault(const program::Program& program) {
  const absl::Status status = CheckCoverage(program);
  const std::string message(status.message());
  return status.ok() ? "" : message.substr(std::min(message.size(), message.find(", ")));
}

TEST_CASE("what was proved of an instruction is not believed of another one") {
  int refused = 0;
  for (int seed = 0; seed < 1200; ++seed) {
    Random random(seed);
    Case c = RandomCase(seed % 60);
    const program::Program whole = Twice(c.program);
    REQUIRE_THAT(CheckCoverage(whole), IsOk());
    const int count = c.program.instructions_size();
    const int at = static_cast<int>(random() % count);
    program::Instruction* instruction = c.program.mutable_instructions(at);
    const std::vector<program::Bound*> bounds = BoundsOf(instruction);
    if (bounds.empty()) continue;
    program::Bound* bound = bounds[random() % bounds.size()];
    const int value = static_cast<int>(random() % bound->values_size());
    bound->set_values(value, bound->values(value) + (random() % 2 == 0 ? 1 : -1));
    // The first half of the program is whole, the second has the fault.
    program::Program broken = whole;
    *broken.mutable_instructions(count + at) = Twice(c.program).instructions(count + at);
    INFO("seed " << seed << ", instruction " << at);
    const std::string fault = Fault(c.program);
    CHECK(Fault(broken) == fault);
    refused += !fault.empty();
  }
  CHECK(refused > 300);
}

TEST_CASE("a kernel that leaves out parts is refused") {
  int refused = 0;
  for (int seed = 0; seed < 400; ++seed) {
    Case c = RandomCase(seed);
    for (program::Instruction& instruction : *c.program.mutable_instructions()) {
      if (!instruction.has_kernel()) continue;
      auto& indices = *instruction.mutable_kernel()->mutable_indices();
      const auto first =
          std::find_if(indices.begin(), indices.end(),
                       [](const program::Range& range) { return range.begin().axes_size() > 0; });
      if (first == indices.end()) continue;
      const auto other = std::find_if(first + 1, indices.end(), [&](const program::Range& range) {
        return range.begin().values_size() == first->begin().values_size();
      });
      if (other == indices.end()) continue;
      const program::Range before = *other;
      *other->mutable_begin()->mutable_axes() = first->begin().axes();
      *other->mutable_end()->mutable_axes() = first->end().axes();
      INFO("seed " << seed << "\n" << instruction.ShortDebugString());
      CHECK_THAT(CheckCoverage(c.program),
                 StatusIs(absl::StatusCode::kFailedPrecondition, "parts are computed"));
      ++refused;
      *other = before;
    }
  }
  CHECK(refused > 10);
}

bool BoxIsEmptySomewhere(const program::Program& program, const program::Access& access) {
  const Mesh mesh = MeshOf(program);
  for (const Box& box : BoxesOn(mesh, access.box())) {
    if (IsEmpty(box)) return true;
  }
  return false;
}

TEST_CASE("a kernel that reads another tensor, or less than it should, does not match the graph") {
  int refused = 0;
  for (int seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Case c = RandomCase(seed % 60);
    program::Program& stage = c.program;
    program::Instruction& instruction =
        *stage.mutable_instructions(static_cast<int>(random() % stage.instructions_size()));
    if (!instruction.has_kernel()) continue;
    program::Access& operand = *instruction.mutable_kernel()->mutable_operands(0);
    const bool other_tensor = seed % 2 == 0;
    if (other_tensor) {
      const int other = static_cast<int>(random() % stage.buffers_size());
      if (stage.buffers(other).name().find(stage.buffers(operand.buffer()).name()) !=
          std::string::npos) {
        continue;
      }
      if (stage.buffers(other).dims_size() != operand.box().dims_size()) continue;
      // A gathered buffer may hold the same tensor.
      if (stage.buffers(operand.buffer()).name().rfind("gather(", 0) == 0) continue;
      operand.set_buffer(other);
    } else {
      if (operand.box().dims_size() == 0) continue;
      program::Bound& end = *operand.mutable_box()->mutable_dims(0)->mutable_end();
      if (BoxIsEmptySomewhere(c.program, operand)) continue;
      end.set_values(0, end.values(0) - 1);
    }
    INFO("seed " << seed);
    CHECK_THAT(CheckMatchesGraph(c.model.graph, c.program),
               StatusIs(absl::StatusCode::kFailedPrecondition,
                        other_tensor ? "which does not hold" : "more than the program says"));
    ++refused;
  }
  CHECK(refused > 50);
}

TEST_CASE("malformed programs are refused without a crash") {
  const Case whole = RandomCase(3);
  const auto refuse = [&](const char* because, auto change) {
    program::Program program = whole.program;
    change(program);
    CHECK_THAT(CheckCoverage(program), StatusIs(absl::StatusCode::kInvalidArgument, because));
  };
  refuse("mesh axis a has size 0", [](program::Program& p) { p.mutable_mesh(0)->set_size(0); });
  refuse("the mesh has more than",
         [](program::Program& p) { p.mutable_mesh(0)->set_size(1 << 30); });
  refuse("no function 0", [](program::Program& p) { p.clear_functions(); });
  refuse("no buffer -1", [](program::Program& p) { p.mutable_outputs(0)->set_buffer(-1); });
  refuse("a bound over mesh axis 9", [](program::Program& p) {
    p.mutable_buffers(0)->mutable_box()->mutable_dims(0)->mutable_end()->add_axes(9);
  });
  refuse("of no known kind", [](program::Program& p) { p.add_instructions(); });
  refuse("where the tensor has rank",
         [](program::Program& p) { p.mutable_buffers(0)->mutable_box()->clear_dims(); });
}

TEST_CASE("a wrong reducer is refused") {
  int changed = 0;
  for (int seed = 0; seed < 40; ++seed) {
    Case c = RandomCase(seed);
    for (program::Instruction& instruction : *c.program.mutable_instructions()) {
      if (!instruction.has_exchange() || instruction.exchange().partials() == 1) continue;
      const program::Reducer reducer = instruction.exchange().reducer();
      instruction.mutable_exchange()->set_reducer(program::PROD);
      CHECK_THAT(CheckCoverage(c.program),
                 StatusIs(absl::StatusCode::kFailedPrecondition, "combines with another reducer"));
      instruction.mutable_exchange()->set_reducer(reducer);
      ++changed;
    }
  }
  CHECK(changed > 10);
}

}  // namespace
}  // namespace yuba::compiler
