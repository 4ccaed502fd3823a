// Kernels sampled in hash arithmetic: all kinds of definitions pass, and code that computes
// something else than the graph says is found.
#include "tools/verify/sampled_kernels.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "compiler/simplify/simplify.h"
#include "runtime/program/program.h"
#include "tests/compiler/support/compiled.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/support/status_matchers.h"

namespace yuba::tools {
namespace {

std::shared_ptr<const runtime::LoadedProgram> Loaded(const compiler::Model& model,
                                                     const search::Plan& plan) {
  const auto program = compiler::CompiledProgram(model, plan, Arithmetic::kHash, false);
  auto loaded = runtime::LoadedProgram::FromMessage(program);
  REQUIRE_THAT(loaded, IsOk());
  return *std::move(loaded);
}

TEST_CASE("kernels of any graph and plan compute what their definitions say") {
  compiler::Random random(7);
  for (int i = 0; i < 40; ++i) {
    const Mesh mesh = MeshOf(1 + i % 8);
    compiler::Model model = i % 4 == 0   ? compiler::RandomTables(random)
                            : i % 4 == 1 ? compiler::RandomSums(mesh, random)
                                         : compiler::RandomModel(random);
    compiler::KnowConditions(model);
    const search::Plan plan = compiler::RandomPlan(model.graph, mesh, random);
    const auto sampled = SampleKernels(model.graph, *Loaded(model, plan), i);
    INFO("graph " << i);
    REQUIRE_THAT(sampled, IsOk());
    CHECK(sampled->functions > 0);
    CHECK(sampled->left_out.empty());
    CHECK(sampled->elements > 0);
    CHECK(sampled->seconds >= 0);
  }
}

TEST_CASE("code that computes something else is found, and its node is named") {
  compiler::ModelBuilder build;
  const TensorId x = build.Input({600, 500}), w = build.Input({500, 700}, TensorKind::kParameter);
  const TensorId y = build.MatMul(x, w);
  compiler::Model model = build.Finish({build.Relu(build.Add(y, build.Input({600, 700})))});
  compiler::Random random(1);
  const search::Plan plan = compiler::RandomPlan(model.graph, MeshOf(4), random);
  const auto program = Loaded(model, plan);
  REQUIRE_THAT(SampleKernels(model.graph, *program, 1), IsOk());
  for (Node& node : model.graph.nodes) {
    const auto right = node.definition;
    // As if the code had forgotten to negate.
    Definition other = *right;
    other.body = Call(Function::kNeg, {other.body});
    node.definition = std::make_shared<const Definition>(other);
    const auto sampled = SampleKernels(model.graph, *program, 1);
    INFO(sampled.status());
    CHECK(absl::IsFailedPrecondition(sampled.status()));
    CHECK(absl::StrContains(sampled.status().message(), node.name));
    node.definition = right;
  }
}

}  // namespace
}  // namespace yuba::tools
