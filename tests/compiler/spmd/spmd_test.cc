// The program of any legal plan computes what the whole graph computes, and moves what the plan
// costs.
#include "compiler/spmd/spmd.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "compiler/model.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/emulator.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

bool SameValues(const TensorValue& a, const TensorValue& b, Arithmetic arithmetic) {
  if (a.elements.size() != b.elements.size()) return false;
  for (size_t i = 0; i < a.elements.size(); ++i) {
    if (arithmetic == Arithmetic::kHash) {
      if (a.elements[i].hash != b.elements[i].hash) return false;
    } else if (std::abs(a.elements[i].number - b.elements[i].number) >
               1e-4 * (1 + std::abs(a.elements[i].number))) {
      return false;
    }
  }
  return true;
}

void CheckProgram(const Model& model, const program::Program& program, Random& random) {
  const Graph& graph = model.graph;
  const Arithmetic arithmetic = program.hash_arithmetic() ? Arithmetic::kHash : Arithmetic::kFloat;
  const absl::Status cover = CheckCoverage(program);
  CHECK_THAT(cover, IsOk());
  const absl::Status faithful = CheckMatchesGraph(graph, program);
  CHECK_THAT(faithful, IsOk());
  std::vector<TensorValue> values = RandomValues(graph, arithmetic, random);
  const Emulation emulation = Emulate(program, graph, values);
  CHECK(emulation.fault == "");
  InterpretGraph(graph, arithmetic, values);
  for (size_t o = 0; o < graph.outputs.size(); ++o) {
    CHECK(SameValues(emulation.outputs[o], values[graph.outputs[o]], arithmetic));
  }
}

// x[8, 6] w[6, 10] -> y, y v[10, 4] -> z
Model Chain() {
  ModelBuilder build;
  const TensorId x = build.Input({8, 6});
  const TensorId y = build.MatMul(x, build.Input({6, 10}, TensorKind::kParameter));
  return build.Finish({build.MatMul(y, build.Input({10, 4}, TensorKind::kParameter))});
}

// All tensors by rows over all devices; the first product by rows, the second by its inner index.
search::Plan ChainPlan(const Model& model, int devices) {
  search::Plan plan;
  plan.mesh = MeshOf(devices);
  AxisList all;
  for (size_t axis = 0; axis < plan.mesh.axes.size(); ++axis) {
    all.push_back(static_cast<uint8_t>(axis));
  }
  for (const Tensor& tensor : model.graph.tensors) {
    const bool rows = tensor.type.dims[0] >= devices;
    plan.tensors.push_back(search::Choice{{rows ? all : AxisList{}, AxisList{}}});
  }
  plan.nodes = {search::Choice{{all, {}, {}}}, search::Choice{{{}, {}, all}}};
  return plan;
}

int CountExchanges(const program::Program& program, bool reduce) {
  int count = 0;
  for (const program::Instruction& instruction : program.instructions()) {
    count += instruction.has_exchange() && instruction.exchange().reduce() == reduce;
  }
  return count;
}

// Nothing of y is reduced: it has no elements.
TEST_CASE("a product without elements is what the graph says") {
  ModelBuilder build;
  const TensorId x = build.Input({8, 6});
  const TensorId y = build.MatMul(x, build.Input({6, 0}, TensorKind::kParameter));
  const TensorId z = build.MatMul(y, build.Input({0, 4}, TensorKind::kParameter));
  const Model model = build.Finish({z, y});
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const search::Plan plan = RandomPlan(model.graph, MeshOf(4), random);
    CheckProgram(model, MakeSpmdProgram(model, plan, Arithmetic::kHash), random);
  }
}

TEST_CASE("a chain of two products on 2 to 8 devices equals the whole") {
  const Model model = Chain();
  Random random(1);
  for (int devices = 1; devices <= 8; ++devices) {
    for (const Arithmetic arithmetic : {Arithmetic::kHash, Arithmetic::kFloat}) {
      INFO(devices << " devices");
      const program::Program program =
          MakeSpmdProgram(model, ChainPlan(model, devices), arithmetic);
      CheckProgram(model, program, random);
      if (devices == 1 || devices > 6) continue;
      // The first product gathers all of w; the second gathers columns of y and sums its result.
      CHECK(CountExchanges(program, false) == 2);
      CHECK(CountExchanges(program, true) == 1);
    }
  }
}

TEST_CASE("programs say the same thing however little they depend on the mesh") {
  const Model model = Chain();
  const program::Program program = MakeSpmdProgram(model, ChainPlan(model, 4));
  const program::Buffer& x = program.buffers(0);
  CHECK(x.box().dims(0).begin().axes_size() == 2);
  CHECK(x.box().dims(0).begin().values_size() == 4);
  CHECK(x.box().dims(1).begin().axes_size() == 0);
  CHECK(x.box().dims(1).end().values(0) == 6);
  CHECK(program.functions_size() == 2);
  CHECK(program.functions(0).indices(2).reduction());
}

TEST_CASE("any legal plan of any small graph equals the whole, bit for bit in hash arithmetic") {
  for (int seed = 0; seed < 150; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Model model = RandomModel(random);
    const int devices = 2 + seed % 7;
    const search::Plan plan = RandomPlan(model.graph, MeshOf(devices), random);
    CheckProgram(model, MakeSpmdProgram(model, plan, Arithmetic::kHash), random);
    if (seed % 5 == 0) CheckProgram(model, MakeSpmdProgram(model, plan), random);
  }
}

// All floats of the graph become of this type.
void SetFloats(Graph& graph, ElementType type) {
  const auto set = [type](TensorType& of) {
    if (IsFloat(of.type)) of.type = type;
  };
  for (Tensor& tensor : graph.tensors) set(tensor.type);
  for (Node& node : graph.nodes) {
    auto definition = std::make_shared<Definition>(*node.definition);
    set(definition->result);
    for (TensorType& operand : definition->operands) set(operand);
    node.definition = std::move(definition);
  }
}

TEST_CASE("a program moves exactly the bytes that its plan costs") {
  constexpr ElementType kFloats[] = {ElementType::kF32, ElementType::kF16, ElementType::kBF16};
  for (int seed = 0; seed < 150; ++seed) {
    INFO("seed " << seed);
    Random random(1000 + seed);
    Model model = RandomModel(random);
    SetFloats(model.graph, kFloats[seed % 3]);
    const search::Plan plan = RandomPlan(model.graph, MeshOf(2 + seed % 7), random);
    const std::vector<TensorValue> values = RandomValues(model.graph, Arithmetic::kFloat, random);
    const Emulation emulation = Emulate(MakeSpmdProgram(model, plan), model.graph, values);
    CHECK(emulation.moved_bytes == search::CostOf(model.graph, plan).bytes());
  }
}

}  // namespace
}  // namespace yuba::compiler
