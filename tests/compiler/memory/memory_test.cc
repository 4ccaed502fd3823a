#include "compiler/memory/memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <numeric>

#include "compiler/memory/memory_use.h"
#include "compiler/model.h"
#include "compiler/spmd/spmd.h"
#include "compiler/verify/check_memory.h"
#include "opsemantics/base/slot.h"
#include "runtime/program/program.pb.h"
#include "search/model/memory_rows.h"
#include "search/plan/plan.h"
#include "search/rewrite/copies.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

program::Program Planned(int seed, Arithmetic arithmetic) {
  Random random(seed);
  const Model model = RandomModel(random);
  program::Program program =
      MakeSpmdProgram(model, RandomPlan(model.graph, MeshOf(2 + seed % 7), random), arithmetic);
  PlanMemory(program);
  return program;
}

bool UsesBuffer(const program::Instruction& instruction, int buffer) {
  if (instruction.has_exchange()) {
    return instruction.exchange().source() == buffer ||
           instruction.exchange().destination() == buffer;
  }
  for (const program::Access& operand : instruction.kernel().operands()) {
    if (operand.buffer() == buffer) return true;
  }
  return instruction.has_kernel() && instruction.kernel().results(0).buffer() == buffer;
}

TEST_CASE("slots that are live together never overlap, and every use is within a slot's life") {
  for (int seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    const program::Program program =
        Planned(seed, seed % 2 == 0 ? Arithmetic::kFloat : Arithmetic::kHash);
    CHECK_THAT(CheckMemory(program), IsOk());
    for (int a = 0; a < program.buffers_size(); ++a) {
      const program::Buffer& first = program.buffers(a);
      CHECK(first.offset() % 64 == 0);
      CHECK(first.offset() + first.size() <= program.arena_size());
      for (int i = 0; i < program.instructions_size(); ++i) {
        if (UsesBuffer(program.instructions(i), a))
          CHECK((first.first() <= i && i <= first.last()));
      }
      if (first.initialized())
        CHECK((first.first() == 0 && first.last() + 1 == program.instructions_size()));
      for (int b = a + 1; b < program.buffers_size(); ++b) {
        const program::Buffer& second = program.buffers(b);
        bool together = false;
        for (int i = 0; i < program.instructions_size(); ++i) {
          together = together || (first.first() <= i && i <= first.last() && second.first() <= i &&
                                  i <= second.last());
        }
        const bool unreduced = first.offset() + first.size() <= second.offset() ||
                               second.offset() + second.size() <= first.offset();
        const bool nothing = first.size() == 0 || second.size() == 0;
        CHECK((unreduced || !together || nothing));
      }
    }
  }
}

// The largest sum of slots that are live together, in bytes.
int64_t LiveSlots(const program::Program& program) {
  std::vector<int64_t> live(program.instructions_size() + 1, 0);
  for (const program::Buffer& buffer : program.buffers()) {
    for (int64_t i = buffer.first(); i <= buffer.last(); ++i) live[i] += SlotBytes(buffer.size());
  }
  return *std::max_element(live.begin(), live.end());
}

TEST_CASE("few arenas are larger than what is live at some time") {
  int larger = 0;
  for (int seed = 0; seed < 3000; ++seed) {
    const program::Program program = Planned(seed, Arithmetic::kFloat);
    CHECK(program.arena_size() >= LiveSlots(program));
    larger += program.arena_size() > LiveSlots(program);
  }
  INFO(larger << " of 3000");
  CHECK(larger <= 6);
}

TEST_CASE("the arena is no smaller than what is live, and no device needs more than the arena") {
  int64_t arenas = 0, bounds = 0;
  for (int seed = 0; seed < 100; ++seed) {
    const program::Program program = Planned(seed, Arithmetic::kFloat);
    const ProgramMemory use = MeasureMemory(program);
    CHECK(use.arena >= use.live_bound);
    int devices = 1;
    for (const program::MeshAxis& axis : program.mesh()) devices *= axis.size();
    const std::vector<DeviceUse> uses = MeasureDevices(program);
    REQUIRE(uses.size() == static_cast<size_t>(devices));
    for (int device = 0; device < devices; ++device) {
      const DeviceUse own = MeasureDevice(program, device);
      CHECK(uses[device].peak == own.peak);
      CHECK(uses[device].stored == own.stored);
      CHECK(uses[device].activations == own.activations);
      CHECK(uses[device].at == own.at);
      CHECK(own.peak <= use.live_bound);
      CHECK(own.peak == own.stored + own.activations + own.buffers);
      CHECK(own.stored > 0);
      CHECK(own.at != "");
    }
    arenas += use.arena;
    bounds += use.live_bound;
  }
  CHECK(arenas < 2 * bounds);  // most of the difference is the alignment of tiny slots
}

TEST_CASE("memory over time counts at each instruction what lives there") {
  for (int seed = 0; seed < 50; ++seed) {
    INFO("seed " << seed);
    const program::Program program = Planned(seed, Arithmetic::kFloat);
    const int device = seed % 2;
    const MemoryOverTime memory = MeasureOverTime(program, device);
    const std::vector<Users> ends = UsersOf(program);
    REQUIRE(memory.slots.size() == static_cast<size_t>(program.instructions_size()));
    for (int i = 0; i < program.instructions_size(); ++i) {
      int64_t slots = 0, own = 0;
      for (int b = 0; b < program.buffers_size(); ++b) {
        if (i < program.buffers(b).first() || program.buffers(b).last() < i) continue;
        slots += SlotBytes(program.buffers(b).size());
        own += memory.boxes[b];
        CHECK(memory.boxes[b] <= program.buffers(b).size());
      }
      CHECK(memory.slots[i] == slots);
      CHECK(memory.own[i] == own);
    }
    CHECK(*std::max_element(memory.own.begin(), memory.own.end()) ==
          MeasureDevice(program, device).peak);
    for (int b = 0; b < program.buffers_size(); ++b) {
      std::vector<int> users;
      for (int i = 0; i < program.instructions_size(); ++i) {
        if (UsesBuffer(program.instructions(i), b)) users.push_back(i);
      }
      REQUIRE(ends[b].none() == users.empty());
      if (!users.empty()) CHECK((ends[b].first == users.front() && ends[b].last == users.back()));
    }
  }
}

TEST_CASE("a buffer's role is what it holds") {
  int with_role[4] = {};
  for (int seed = 0; seed < 50; ++seed) {
    const program::Program program = Planned(seed, Arithmetic::kFloat);
    const MemoryOverTime memory = MeasureOverTime(program, 0);
    for (int b = 0; b < program.buffers_size(); ++b) {
      const std::string& name = program.buffers(b).name();
      INFO(seed << ": " << name);
      const BufferRole role = memory.roles[b];
      ++with_role[static_cast<int>(role)];
      if (program.buffers(b).initialized()) CHECK(role == BufferRole::kStored);
      if (name.find("gather(") == 0) CHECK(role == BufferRole::kGathered);
      if (name.find("written(") == 0) CHECK(role == BufferRole::kWritten);
    }
  }
  for (int count : with_role) CHECK(count > 0);
}

// Of a plan: the most that is in use by the rows, and what its program allocates, in bytes a
// device. The plan is `given`, or where that is null a random one.
struct Peaks {
  int64_t rows = 0, program = 0;
};
Peaks PeaksOf(const Model& model, search::ProblemOptions options, Random& random,
              const search::Plan* given = nullptr) {
  options.axes.resize(options.mesh.axes.size());
  std::iota(options.axes.begin(), options.axes.end(), 0);
  options.cluster = false;
  search::Problem problem = search::BuildProblem(model.graph, options);
  problem.pairwise.memory = search::MemoryRowsOf(model.graph, options.mesh, problem, 1 << 30);
  search::Assignment assignment;
  if (given != nullptr) {
    search::Choices choices = given->tensors;
    choices.insert(choices.end(), given->nodes.begin(), given->nodes.end());
    assignment = problem.ValuesOf(choices);
  } else {
    for (const search::DomainPtr& domain : problem.pairwise.variables)
      assignment.push_back(static_cast<int>(random() % domain->size));
  }
  const search::Choices choices = problem.ChoicesOf(assignment);
  const auto middle = choices.begin() + static_cast<int64_t>(model.graph.tensors.size());
  search::Plan plan;
  plan.mesh = options.mesh;
  plan.tensors.assign(choices.begin(), middle);
  plan.nodes.assign(middle, choices.end());
  program::Program program = MakeSpmdProgram(model, plan);
  PlanMemory(program);
  return {search::PeakOf(problem.pairwise, assignment), program.arena_size()};
}

TEST_CASE("the rows of long sums are no more than what a program has live") {
  int64_t rows = 0, programs = 0;
  for (int seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    search::ProblemOptions options;
    options.mesh = MeshOf(2 + seed % 7);
    const Model model = RandomLongSums(options.mesh, random);
    // Terms and their accumulator must be sharded alike, as random values of a problem are not.
    const search::Plan plan = RandomPlan(model.graph, options.mesh, random);
    const Peaks peaks = PeaksOf(model, options, random, &plan);
    CHECK(peaks.rows <= peaks.program);
    rows += peaks.rows;
    programs += peaks.program;
  }
  std::cout << "rows of long sums count " << 100.0 * rows / programs << " % of the programs\n";
  CHECK(rows > programs * 9 / 10);
}

TEST_CASE("the search's rows of memory are hardly less than what a program has live") {
  int64_t rows = 0, programs = 0;
  int with_copies = 0;
  for (int seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Model model = RandomModel(random);
    const size_t tensors = model.graph.tensors.size();
    if (seed % 2 == 1) model.graph = search::WithCopies(model.graph);
    with_copies += model.graph.tensors.size() > tensors;
    search::ProblemOptions options;
    options.mesh = MeshOf(2 + seed % 7);
    options.replicate = seed % 4 > 1;
    const Peaks peaks = PeaksOf(model, options, random);
    CHECK(peaks.rows <= peaks.program);
    rows += peaks.rows;
    programs += peaks.program;
  }
  std::cout << "rows count " << 100.0 * rows / programs << " % of what programs allocate\n";
  CHECK(rows > programs * 98 / 100);
  CHECK(with_copies > 50);
}

TEST_CASE("plans of memory that are wrong are refused") {
  const program::Program right = Planned(5, Arithmetic::kFloat);
  const auto refuse = [&](const char* why, auto change) {
    program::Program program = right;
    change(program);
    CHECK_THAT(CheckMemory(program), StatusIs(absl::StatusCode::kFailedPrecondition, why));
  };
  const int last = right.buffers_size() - 1;
  refuse("its slot leaves the arena", [&](program::Program& program) {
    program.mutable_buffers(0)->set_offset(program.arena_size());
  });
  refuse("bytes in a slot of 1",
         [&](program::Program& program) { program.mutable_buffers(0)->set_size(1); });
  refuse("it shares bytes with", [&](program::Program& program) {
    program.mutable_buffers(0)->set_offset(program.buffers(1).offset());
  });
  refuse("uses it outside its life", [&](program::Program& program) {
    program.mutable_buffers(last)->set_first(program.buffers(last).last() + 1);
  });
  refuse("it is stored and must live throughout",
         [&](program::Program& program) { program.mutable_buffers(0)->set_last(0); });
}

TEST_CASE("elements of floats take eight bytes in hash arithmetic") {
  const program::Program plain = Planned(5, Arithmetic::kFloat);
  const program::Program hash = Planned(5, Arithmetic::kHash);
  for (int b = 0; b < plain.buffers_size(); ++b) {
    CHECK(hash.buffers(b).size() == 2 * plain.buffers(b).size());
  }
}

TEST_CASE("memory is used again when its tensor is dead") {
  ModelBuilder build;
  TensorId x = build.Input({64, 64});
  for (int i = 0; i < 10; ++i) x = build.Relu(x);
  const Model model = build.Finish({x});
  search::Plan plan;
  plan.mesh = MeshOf(2);
  plan.tensors.assign(model.graph.tensors.size(), search::Choice{{{0}, {}}});
  plan.nodes.assign(model.graph.nodes.size(), search::Choice{{{0}, {}}});
  program::Program program = MakeSpmdProgram(model, plan);
  PlanMemory(program);
  // Input, output and two activations at a time, 32 by 64 f32 each.
  CHECK(program.arena_size() == 4 * 32 * 64 * 4);
  CHECK(MeasureMemory(program).live_bound == 4 * 32 * 64 * 4);
}

}  // namespace
}  // namespace yuba::compiler
