// What checkpointing of activations adds to a step: kernels of the forward pass of the blocks
// alone.
#include "tools/bench/hgx/recomputation.h"

#include <catch2/catch.hpp>
#include <memory>

#include "compiler/search_model.h"
#include "opsemantics/machine/find_machine.h"
#include "opsemantics/machine/machine_mesh.h"
#include "runtime/model/predict.h"
#include "tests/support/status_matchers.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/bench/paper/scheduled_plan.h"
#include "tools/program/build_program.h"
#include "tools/program/predict_plan.h"

namespace yuba::tools {
namespace {

std::shared_ptr<const Machine> Libraries() {
  return std::make_shared<const Machine>(FindMachine("hgx-h100@libraries").value());
}

// Of so many layers, by ZeRO-3 on eight devices.
std::shared_ptr<runtime::LoadedProgram> Llama(int64_t layers, const std::string& optimizer) {
  const auto machine = Libraries();
  const auto loaded = BenchModelOf("llama",
                                   {{"batch", 8},
                                    {"feed-forward", 96},
                                    {"heads", 4},
                                    {"kv-heads", 2},
                                    {"layers", layers},
                                    {"sequence", 64},
                                    {"vocab", 128},
                                    {"width", 32}},
                                   optimizer);
  REQUIRE_THAT(loaded, IsOk());
  search::SearchOptions options = AsPublished("zero3", machine);
  options.mesh = MeshOfMachine(*machine, 8).value();
  compiler::Model model = (*loaded)->model;
  const auto plan = compiler::SearchModel(options, model, nullptr);
  REQUIRE_THAT(plan, IsOk());
  auto program = BuildProgram(model, *plan, KernelsWithoutCode(machine.get()), false);
  REQUIRE_THAT(program, IsOk());
  auto result = runtime::LoadedProgram::FromMessage(*std::move(program));
  REQUIRE_THAT(result, IsOk());
  return *result;
}

TEST_CASE("what runs again grows with the blocks, and with the share of their products") {
  const auto machine = Libraries();
  const auto again = [&](const runtime::LoadedProgram& program, double products) {
    return RecomputationSeconds(program, *machine, "layers.", products);
  };
  const auto one = Llama(1, "sgd"), two = Llama(2, "sgd");
  CHECK(again(*one, 0) > 0);
  CHECK(again(*one, 1) > again(*one, 0));
  CHECK(again(*one, 0.5) == Approx((again(*one, 0) + again(*one, 1)) / 2));
  for (const double products : {0.0, 0.5, 1.0}) {
    // A kernel at the end of a block may hold nodes of what follows it.
    CHECK(again(*two, products) == Approx(2 * again(*one, products)).epsilon(0.1));
  }
  // A forward pass is less than half of a step.
  const auto step = runtime::PredictStep(*two, *machine, runtime::RanksPolicy());
  REQUIRE_THAT(step, IsOk());
  double kernels = 0;
  for (const double of_class : step->kinds.kernels) kernels += of_class;
  CHECK(again(*two, 1) < 0.5 * kernels);
}

TEST_CASE("nothing runs again of other nodes, or without a loss") {
  const auto machine = Libraries();
  CHECK(RecomputationSeconds(*Llama(1, "sgd"), *machine, "blocks.", 1) == 0);
  CHECK(RecomputationSeconds(*Llama(1, ""), *machine, "layers.", 1) == 0);
}

}  // namespace
}  // namespace yuba::tools
