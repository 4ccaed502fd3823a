// Nodes of a cluster become one kernel where the plan allows it, and the program computes what it
// computed with a kernel for each node, on any plan: the emulator runs kernels value by value.
#include <catch2/catch.hpp>

#include "compiler/cluster/cluster.h"
#include "compiler/spmd/spmd.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/carried_graphs.h"
#include "tests/compiler/support/emulator.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

constexpr int kSteps = 3;

struct Counts {
  int kernels = 0, nodes = 0, internals = 0, exchanges = 0;
};

Counts CountsOf(const program::Program& program) {
  Counts counts;
  for (const program::Instruction& instruction : program.instructions()) {
    counts.exchanges += instruction.has_exchange();
    counts.kernels += instruction.has_kernel();
    counts.nodes += instruction.kernel().node_size();
    counts.internals += instruction.kernel().internals_size();
  }
  return counts;
}

void CheckProved(const Model& model, const program::Program& program) {
  const absl::Status cover = CheckCoverage(program);
  CHECK_THAT(cover, IsOk());
  const absl::Status faithful = CheckMatchesGraph(model.graph, program);
  CHECK_THAT(faithful, IsOk());
}

// Everything by rows over all devices.
search::Plan ByRows(const Graph& graph, int devices) {
  search::Plan plan;
  plan.mesh = MeshOf(devices);
  AxisList all;
  for (size_t axis = 0; axis < plan.mesh.axes.size(); ++axis) {
    all.push_back(static_cast<uint8_t>(axis));
  }
  for (const Tensor& tensor : graph.tensors) {
    plan.tensors.emplace_back(std::vector<AxisList>(tensor.type.dims.size()));
    plan.tensors.back().axes[0] = all;
  }
  for (const Node& node : graph.nodes) {
    plan.nodes.emplace_back(std::vector<AxisList>(node.definition->indices.size()));
    plan.nodes.back().axes[0] = all;
  }
  return plan;
}

// A softmax in pieces: maximum, difference, sum, difference.
Model Rows() {
  ModelBuilder build;
  const TensorId x = build.Input({9, 5});
  const TensorId most = build.Reduce(x, Reducer::kMax);
  const TensorId shifted = build.SubtractColumn(x, most);
  const TensorId sum = build.Reduce(shifted, Reducer::kSum);
  Model model = build.Finish({build.SubtractColumn(shifted, sum)});
  ClusterModel(model, 1);
  return model;
}

TEST_CASE("rows that stay on their devices are one kernel, and sums of rows need no memory") {
  const Model model = Rows();
  for (int devices : {1, 2, 3, 8}) {
    INFO(devices << " devices");
    const program::Program program =
        MakeSpmdProgram(model, ByRows(model.graph, devices), Arithmetic::kHash);
    CheckProved(model, program);
    const Counts counts = CountsOf(program);
    CHECK(counts.kernels == 1);
    CHECK(counts.nodes == 4);
    CHECK(counts.internals == 2);
    CHECK(program.buffers_size() == 3);  // x, the difference and the result
    CHECK(program.functions(0).definitions_size() == 4);
    const program::Program apart =
        MakeSpmdProgram(model, ByRows(model.graph, devices), Arithmetic::kHash, Joins::kNone);
    CHECK(CountsOf(apart).kernels == 4);
    CHECK(apart.buffers_size() == 5);
    // Threads of GPUs share out the rows.
    const program::Program rows =
        MakeSpmdProgram(model, ByRows(model.graph, devices), Arithmetic::kHash, Joins::kRows);
    CHECK(rows.SerializeAsString() == program.SerializeAsString());
  }
}

TEST_CASE("an exchange divides a cluster, and what lies behind it has a buffer") {
  const Model model = Rows();
  search::Plan plan = ByRows(model.graph, 2);
  plan.tensors[model.graph.nodes[1].result].axes = {{}, {0}};  // the difference by columns
  const program::Program program = MakeSpmdProgram(model, plan, Arithmetic::kHash);
  CheckProved(model, program);
  const Counts counts = CountsOf(program);
  CHECK(counts.kernels > 1);
  CHECK(counts.nodes == 4);
  CHECK(counts.exchanges > 0);
}

TEST_CASE("any plan of any small graph equals the whole with clusters, and moves the same") {
  int clusters = 0, internals = 0;
  for (int seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Model model = RandomModel(random);
    ClusterModel(model, 1);
    const search::Plan plan = RandomPlan(model.graph, MeshOf(1 + seed % 8), random);
    const program::Program program = MakeSpmdProgram(model, plan, Arithmetic::kHash);
    CheckProved(model, program);
    std::vector<TensorValue> values = RandomValues(model.graph, Arithmetic::kHash, random);
    const Emulation emulation = Emulate(program, model.graph, values);
    CHECK(emulation.fault == "");
    InterpretGraph(model.graph, Arithmetic::kHash, values);
    std::vector<TensorValue> expected;
    for (const TensorId output : model.graph.outputs) expected.push_back(values[output]);
    CHECK(SameElements(emulation.outputs, expected));
    const Counts counts = CountsOf(program);
    const program::Program apart = MakeSpmdProgram(model, plan, Arithmetic::kHash, Joins::kNone);
    CHECK(CountsOf(apart).exchanges == counts.exchanges);
    CHECK(CountsOf(apart).nodes == counts.nodes);
    clusters += counts.kernels < counts.nodes;
    internals += counts.internals;
  }
  CHECK(clusters > 20);
  CHECK(internals > 10);
}

TEST_CASE("states that are written over in clusters have the values of steps by hand") {
  int clusters = 0;
  for (int seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    CarriedModel carried = RandomCarried(random);
    ClusterModel(carried.model, 1);
    const search::Plan plan = RandomPlan(carried.model.graph, MeshOf(1 + seed % 6), random);
    const program::Program program = MakeSpmdProgram(carried.model, plan, Arithmetic::kHash);
    CheckProved(carried.model, program);
    const auto values = RandomValues(carried.before.graph, Arithmetic::kHash, random);
    const Emulation emulation =
        Emulate(program, carried.model.graph, ValuesOfModel(carried, values), kSteps);
    CHECK(emulation.fault == "");
    CHECK(SameElements(emulation.outputs, StepsByHand(carried, values, kSteps).back()));
    clusters += CountsOf(program).kernels < CountsOf(program).nodes;
  }
  CHECK(clusters > 20);
}

TEST_CASE("maps that share nothing are sections of one kernel of a GPU, and apart on processors") {
  ModelBuilder build;
  const TensorId x = build.Input({9, 5}), row = build.Input({16});
  const TensorId y = build.Relu(x), z = build.Add(y, x);
  const TensorId other = build.Relu(row), last = build.Relu(other);  // reads what `other` computes
  Model model = build.Finish({y, z, other, last});
  ClusterModel(model, 1);
  for (const int devices : {1, 2, 3}) {
    INFO(devices << " devices");
    const search::Plan plan = ByRows(model.graph, devices);
    const program::Program program = MakeSpmdProgram(model, plan, Arithmetic::kHash, Joins::kRows);
    CheckProved(model, program);
    // y and z, and the first of the two others, that are a cluster.
    REQUIRE(CountsOf(program).kernels == 1);
    using Sections = std::vector<program::Section>;
    CHECK(program::SectionsOf(program.functions(0)) == Sections{{0, 2, 2}, {2, 4, 1}});
    CHECK(CountsOf(MakeSpmdProgram(model, plan, Arithmetic::kHash)).kernels == 2);
    model.clusters.pop_back();
    const program::Program apart = MakeSpmdProgram(model, plan, Arithmetic::kHash, Joins::kRows);
    CheckProved(model, apart);
    CHECK(CountsOf(apart).kernels == 2);  // without a cluster `last` has to wait for `other`
    ClusterModel(model, 1);
  }
}

TEST_CASE("what is made of weights and gathered waits for no other map") {
  ModelBuilder build;
  const TensorId x = build.Input({8, 4}), v = build.Input({4, 4}), w = build.Input({4, 6});
  const TensorId hidden = build.Relu(build.MatMul(x, v)), weights = build.Relu(w);
  Model model = build.Finish({build.MatMul(hidden, weights)});
  ClusterModel(model, 1);
  for (const int devices : {1, 2}) {  // on one alone nothing is gathered
    INFO(devices << " devices");
    const search::Plan plan = ByRows(model.graph, devices);
    const program::Program program = MakeSpmdProgram(model, plan, Arithmetic::kHash, Joins::kRows);
    CheckProved(model, program);
    CHECK(CountsOf(program).kernels == (devices == 1 ? 3 : 4));
  }
}

TEST_CASE("any plan of any small graph equals the whole with sections") {
  int sections = 0;
  for (int seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    CarriedModel carried = RandomCarried(random);
    ClusterModel(carried.model, 1);
    const search::Plan plan = RandomPlan(carried.model.graph, MeshOf(1 + seed % 6), random);
    const program::Program program =
        MakeSpmdProgram(carried.model, plan, Arithmetic::kHash, Joins::kRows);
    CheckProved(carried.model, program);
    const auto values = RandomValues(carried.before.graph, Arithmetic::kHash, random);
    const Emulation emulation =
        Emulate(program, carried.model.graph, ValuesOfModel(carried, values), kSteps);
    CHECK(emulation.fault == "");
    CHECK(SameElements(emulation.outputs, StepsByHand(carried, values, kSteps).back()));
    for (const program::Function& function : program.functions())
      sections += program::SectionsOf(function).size() > 1;
  }
  CHECK(sections > 20);
}

}  // namespace
}  // namespace yuba::compiler
