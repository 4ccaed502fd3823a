// Products and convolutions with what is behind them in one call of the library: the same values as
// with a kernel for each node, cut and whole, and the proofs hold.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "compiler/cluster/cluster.h"
#include "compiler/cluster/products.h"
#include "compiler/spmd/spmd.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "runtime/program/program.pb.h"
#include "runtime/session.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/compiled.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

std::vector<float> Output(const program::Program& program, int threads) {
  const auto loaded = runtime::LoadedProgram::FromMessage(program);
  REQUIRE_THAT(loaded, IsOk());
  runtime::RunOptions options;
  options.threads_per_device = threads;
  options.poison = options.guards = true;
  auto session = runtime::Session::Open(*loaded, options);
  REQUIRE_THAT(session, IsOk());
  REQUIRE_THAT((*session)->Randomize(5), IsOk());
  for (int step = 0; step < 2; ++step) REQUIRE_THAT((*session)->Step(), IsOk());
  const auto output = (*session)->Get(program.outputs(0).name());
  REQUIRE_THAT(output, IsOk());
  std::vector<float> values(output->data.size() / sizeof(float));
  std::memcpy(values.data(), output->data.data(), output->data.size());
  return values;
}

void CheckClose(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) > 1e-5F * (1 + std::abs(b[i])))
      FAIL(i << ": " << a[i] << " " << b[i]);
  }
}

// How many steps library calls of the program have.
int PostOps(const program::Program& program) {
  int steps = 0;
  for (const program::Function& function : program.functions())
    steps += function.library().post_ops_size();
  return steps;
}

int CheckSame(const Model& model, const search::Plan& plan) {
  const Arithmetic floats = Arithmetic::kFloat;
  const program::Program joined = CompiledProgram(model, plan, floats, true, Joins::kAll);
  const program::Program apart = CompiledProgram(model, plan, floats, true, Joins::kNone);
  CHECK(PostOps(apart) == 0);
  const absl::Status cover = CheckCoverage(joined);
  CHECK_THAT(cover, IsOk());
  const absl::Status faithful = CheckMatchesGraph(model.graph, joined);
  CHECK_THAT(faithful, IsOk());
  CheckClose(Output(joined, 2), Output(apart, 1));
  return PostOps(joined);
}

// relu(x * w + b) + r, and once more with a scale of each column; then a window over rows.
Model Layers() {
  ModelBuilder build;
  const auto weight = [&](std::vector<int64_t> dims) {
    return build.Input(std::move(dims), TensorKind::kParameter);
  };
  const TensorId x = build.Input({24, 20});
  const TensorId r = build.Input({24, 32});
  const TensorId y =
      build.Add(build.Relu(build.AddRow(build.MatMul(x, weight({20, 32})), weight({32}))), r);
  const TensorId z = build.Relu(build.MultiplyRow(build.MatMul(y, weight({32, 16})), weight({16})));
  const TensorId w = build.Relu(build.Window(z, weight({3, 16}), 1, 1));
  Model model = build.Finish({w});
  ClusterModel(model);
  return model;
}

TEST_CASE("layers whole on one device are calls of the library, with all that is behind them") {
  const Model model = Layers();
  Random random(1);
  const search::Plan plan = RandomPlan(model.graph, MeshOf(1), random);
  CHECK(CheckSame(model, plan) == 6);
  const program::Program program =
      CompiledProgram(model, plan, Arithmetic::kFloat, true, Joins::kAll);
  CHECK(program.instructions_size() == 3);
  // Without a library, and in hash arithmetic, nothing is joined to a product.
  for (const Arithmetic arithmetic : {Arithmetic::kFloat, Arithmetic::kHash}) {
    const bool library = arithmetic == Arithmetic::kHash;
    const program::Program generated =
        CompiledProgram(model, plan, arithmetic, library, Joins::kAll);
    CHECK(generated.instructions_size() > 3);
    CHECK(PostOps(generated) == 0);
  }
}

TEST_CASE("layers cut in any way have the same values") {
  const Model model = Layers();
  int steps = 0;
  for (int seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    steps += CheckSame(model, RandomPlan(model.graph, MeshOf(2 + seed % 3), random));
  }
  CHECK(steps > 5);
}

TEST_CASE("an accumulator of whole products is a sum, and a post-op of the last of them") {
  int steps = 0;
  for (int seed = 0; seed < 24; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Mesh mesh = MeshOf(1 + seed % 3);
    const Model model = RandomSums(mesh, random);
    CHECK_THAT(CheckProducts(model.graph, FindProducts(model.graph)), IsOk());
    steps += CheckSame(model, RandomPlan(model.graph, mesh, random));
  }
  CHECK(steps > 3);
}

}  // namespace
}  // namespace yuba::compiler
