// How many kernels programs for one GPU have, library calls included, and that fewer kernels need
// no more memory. Plans have copies unless they are asked to have none; on one device these move
// nothing.
#include <catch2/catch.hpp>

#include "compiler/kernels/add_kernels.h"
#include "runtime/program/program.pb.h"
#include "search/rewrite/copies.h"
#include "tests/support/status_matchers.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/program/build_program.h"

namespace yuba::compiler {
namespace {

// A joint call is one, where the library has it.
int KernelsOf(const program::Program& program) {
  int kernels = -program.joint_calls_size();
  for (const program::Instruction& instruction : program.instructions())
    kernels += instruction.has_kernel();
  return kernels;
}

// On one device, without generated code. `gathers` and `joint_calls` as in KernelChoice.
program::Program ProgramOf(const Model& model, bool gathers, kernels::JointCalls joint_calls) {
  kernels::KernelChoice choice;
  choice.target = kernels::KernelTarget(*kernels::FindTarget("cuda"));
  choice.code = false;
  choice.gathers = gathers;
  choice.joint_calls = joint_calls;
  auto program = tools::BuildProgram(model, tools::WholePlan(model.graph), choice, /*verify=*/true);
  REQUIRE_THAT(program, IsOk());
  return *std::move(program);
}

void CheckKernels(const std::string& name, const zoo::Sizes& sizes, const std::string& optimizer,
                  const std::string& precision, int most,
                  kernels::JointCalls joint_calls = kernels::JointCalls::kAuto) {
  const auto loaded = tools::BenchModelOf(name, sizes, optimizer, precision);
  REQUIRE_THAT(loaded, IsOk());
  Model& model = (*loaded)->model;
  for (const bool copies : {false, true}) {
    if (copies) model.graph = search::WithCopies(model.graph);
    const program::Program together = ProgramOf(model, true, joint_calls);
    const program::Program apart = ProgramOf(model, false, joint_calls);
    INFO(name << " " << optimizer << (copies ? " with copies: " : ": ") << KernelsOf(together)
              << " kernels, " << together.arena_size() << " bytes; as planned " << KernelsOf(apart)
              << ", " << apart.arena_size());
    CHECK(KernelsOf(together) <= most);
    CHECK(KernelsOf(together) <= KernelsOf(apart));
    // What is live together fits in other ways: a little more or less.
    CHECK(static_cast<double>(together.arena_size()) <=
          1.01 * static_cast<double>(apart.arena_size()));
  }
}

TEST_CASE("GPT-2 small, a training step of two Llama layers and ResNet-50 have few kernels") {
  CheckKernels("gpt2", {{"batch", 4}, {"sequence", 128}}, "", "", 130);
  CheckKernels("llama",
               {{"layers", 2},
                {"width", 2048},
                {"heads", 16},
                {"sequence", 1024},
                {"batch", 2},
                {"vocab", 8192}},
               "adam", "bf16", 110);
  CheckKernels("resnet-50", {{"batch", 32}}, "", "", 170);
}

TEST_CASE("a training step of GPT-2 small has fewer kernels with joint calls") {
  const zoo::Sizes sizes = {{"batch", 4}, {"sequence", 128}};
  CheckKernels("gpt2", sizes, "adam", "", 465, kernels::JointCalls::kNone);
  CheckKernels("gpt2", sizes, "adam", "", 406, kernels::JointCalls::kAll);
}

// Of a channels-last program statistics and gradients of norms are sums down columns.
TEST_CASE("sums down columns and what follows them are one kernel in training steps") {
  CheckKernels("resnet-50", {{"batch", 32}}, "adam", "bf16", 480);
  CheckKernels("gpt2", {{"batch", 4}, {"sequence", 128}}, "adam", "", 465);
}

}  // namespace
}  // namespace yuba::compiler
