// Programs with clusters give the bits that programs with a kernel for each node give: in hash
// arithmetic and in floats, cut and whole, in place and not, on any number of threads.
#include <catch2/catch.hpp>

#include "compiler/cluster/cluster.h"
#include "compiler/spmd/spmd.h"
#include "runtime/program/program.pb.h"
#include "runtime/session.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/carried_graphs.h"
#include "tests/compiler/support/compiled.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

constexpr int kSteps = 3;

int Kernels(const program::Program& program) {
  int kernels = 0;
  for (const auto& instruction : program.instructions()) {
    kernels += instruction.has_kernel();
  }
  return kernels;
}

// The outputs of the last of three steps.
std::vector<std::string> Outputs(const program::Program& program, int threads, bool watch = false) {
  const auto loaded = runtime::LoadedProgram::FromMessage(program);
  REQUIRE_THAT(loaded, IsOk());
  runtime::RunOptions options;
  options.threads_per_device = threads;
  options.poison = options.guards = watch;
  auto session = runtime::Session::Open(*loaded, options);
  REQUIRE_THAT(session, IsOk());
  REQUIRE_THAT((*session)->Randomize(5), IsOk());
  for (int step = 0; step < kSteps; ++step) REQUIRE_THAT((*session)->Step(), IsOk());
  std::vector<std::string> outputs;
  for (const program::Port& port : program.outputs()) {
    const auto output = (*session)->Get(port.name());
    REQUIRE_THAT(output, IsOk());
    outputs.push_back(output->data);
  }
  return outputs;
}

// Returns how many kernels the clusters save.
int CheckSameBits(const Model& model, const search::Plan& plan, Arithmetic arithmetic) {
  const program::Program joined = CompiledProgram(model, plan, arithmetic, false, Joins::kAll);
  const program::Program apart = CompiledProgram(model, plan, arithmetic, false, Joins::kNone);
  CHECK(Outputs(joined, 1, true) == Outputs(apart, 1));
  return Kernels(apart) - Kernels(joined);
}

TEST_CASE("small graphs have the same bits with clusters, on any plan") {
  int saved = 0;
  for (int seed = 0; seed < 12; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Model model = RandomModel(random);
    ClusterModel(model, 1);
    const search::Plan plan = RandomPlan(model.graph, MeshOf(1 + seed % 4), random);
    saved += CheckSameBits(model, plan, seed % 2 == 0 ? Arithmetic::kHash : Arithmetic::kFloat);
  }
  CHECK(saved > 2);
}

TEST_CASE("and graphs with states, which are written over") {
  int saved = 0;
  for (int seed = 0; seed < 12; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    CarriedModel carried = RandomCarried(random);
    ClusterModel(carried.model, 1);
    const search::Plan plan = RandomPlan(carried.model.graph, MeshOf(1 + seed % 4), random);
    saved +=
        CheckSameBits(carried.model, plan, seed % 2 == 0 ? Arithmetic::kHash : Arithmetic::kFloat);
  }
  CHECK(saved > 2);
}

// Two updates of an optimizer, of uneven extents, and a softmax in pieces.
Model Large() {
  ModelBuilder build;
  std::vector<TensorId> states, next;
  const TensorId g = build.Input({700, 131}), scale = build.Input({131});
  const TensorId m = build.Input({700, 131}), v = build.Input({700, 131});
  const TensorId w = build.Input({700, 131});
  const TensorId m_next = build.Add(build.MultiplyRow(m, scale), g);
  const TensorId v_next = build.Subtract(build.MultiplyRow(v, scale), g);
  const TensorId w_next = build.Subtract(w, build.Add(m_next, build.Relu(v_next)));
  const TensorId most = build.Reduce(g, Reducer::kMax);
  const TensorId shifted = build.SubtractColumn(g, most);
  const TensorId sum = build.Reduce(shifted, Reducer::kSum);
  const TensorId rows = build.SubtractColumn(shifted, sum);
  const Model before = build.Finish({m_next, v_next, w_next, rows, sum});
  Model model = Carried(before, {{m, m_next}, {v, v_next}, {w, w_next}}).model;
  ClusterModel(model);
  return model;
}

TEST_CASE("large tensors have the same bits on any number of devices and threads") {
  const Model model = Large();
  REQUIRE(model.clusters.size() >= 2);
  for (int devices : {1, 2, 3}) {
    Random random(devices);
    const search::Plan plan = RandomPlan(model.graph, MeshOf(devices), random);
    for (const Arithmetic arithmetic : {Arithmetic::kFloat, Arithmetic::kHash}) {
      INFO(devices << " devices");
      const program::Program joined = CompiledProgram(model, plan, arithmetic, false, Joins::kAll);
      const program::Program apart = CompiledProgram(model, plan, arithmetic, false, Joins::kNone);
      if (devices == 1) {
        CHECK(Kernels(joined) == 3);  // of eleven nodes
        for (const program::Function& function : joined.functions()) {
          CHECK(function.splits_size() > 0);
        }
      }
      const std::vector<std::string> alone = Outputs(apart, 1);
      for (int threads : {1, 2, 5}) CHECK(Outputs(joined, threads) == alone);
    }
  }
}

}  // namespace
}  // namespace yuba::compiler
