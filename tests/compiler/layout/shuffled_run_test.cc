// Programs whose tensors lie in memory in orders at random: the same values as row-major ones,
// bit for bit in hash arithmetic, under any plan, with accumulators, partials, states and tables,
// and with the proofs. Nothing else moves.
#include <catch2/catch.hpp>

#include "compiler/cluster/cluster.h"
#include "compiler/layout/channels_last.h"
#include "compiler/simplify/simplify.h"
#include "compiler/spmd/spmd.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "runtime/program/program.pb.h"
#include "runtime/session.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/carried_graphs.h"
#include "tests/compiler/support/compiled.h"
#include "tests/compiler/support/random_orders.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

// What the second step leaves in all outputs, and then in all that is stored.
std::vector<std::string> ValuesOf(const program::Program& program, int seed) {
  const auto loaded = runtime::LoadedProgram::FromMessage(program);
  REQUIRE_THAT(loaded, IsOk());
  runtime::RunOptions options;
  options.interleave = options.poison = options.guards = true;
  options.interleave_seed = seed;
  auto session = runtime::Session::Open(*loaded, options);
  REQUIRE_THAT(session, IsOk());
  REQUIRE_THAT((*session)->Randomize(seed), IsOk());
  for (int step = 0; step < 2; ++step) REQUIRE_THAT((*session)->Step(), IsOk());
  std::vector<std::string> values;
  for (const program::Port& port : program.outputs()) {
    const auto output = (*session)->Get(port.name());
    REQUIRE_THAT(output, IsOk());
    values.push_back(output->data);
  }
  for (const program::Initializer& stored : program.parameters()) {
    const auto value = (*session)->GetBuffer(stored.port().buffer());
    REQUIRE_THAT(value, IsOk());
    values.push_back(value->data);
  }
  return values;
}

// Returns how many buffers lie in another order.
int CheckSame(Model model, search::Plan plan, Random& random, int seed) {
  const program::Program plain = CompiledProgram(model, plan, Arithmetic::kHash, false);
  const int64_t bytes = search::CostOf(model.graph, plan).bytes();
  const Layouts layouts = OrderTensors(RandomOrders(model.graph, random), model, plan);
  CheckGraph(model.graph);
  CHECK_THAT(CheckClusters(model.graph, model.clusters), IsOk());
  CHECK(search::CostOf(model.graph, plan).bytes() == bytes);
  const program::Program shuffled =
      CompiledProgram(model, plan, Arithmetic::kHash, false, Joins::kAll, layouts);
  CHECK_THAT(CheckMatchesGraph(model.graph, shuffled), IsOk());
  CHECK_THAT(CheckCoverage(shuffled), IsOk());
  CHECK(ValuesOf(shuffled, seed) == ValuesOf(plain, seed));
  int ordered = 0;
  for (const program::Buffer& buffer : shuffled.buffers())
    ordered += buffer.order().empty() ? 0 : 1;
  return ordered;
}

TEST_CASE("small graphs in any order in memory equal row-major ones") {
  int ordered = 0;
  for (int seed = 0; seed < 12; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Model model = RandomModel(random);
    ClusterModel(model, 1);
    const search::Plan plan = RandomPlan(model.graph, MeshOf(1 + seed % 6), random);
    ordered += CheckSame(model, plan, random, seed);
  }
  CHECK(ordered > 20);
}

TEST_CASE("and graphs with states, tables, accumulators and partials") {
  for (int seed = 0; seed < 8; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Mesh mesh = MeshOf(2 + seed % 5);
    CarriedModel carried = RandomCarried(random);
    ClusterModel(carried.model, 1);
    Model tables = RandomTables(random);
    KnowConditions(tables);
    for (const Model& model : {carried.model, tables, RandomSums(mesh, random),
                               RandomLongSums(mesh, random), RandomLinear(mesh, random)}) {
      const search::Plan plan = RandomPlan(model.graph, mesh, random);
      CheckSame(model, plan, random, seed);
    }
  }
}

}  // namespace
}  // namespace yuba::compiler
