// Programs with their kernels, on virtual devices: any legal plan gives what the interpreter gives
// for the whole graph, and moves what it costs.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "compiler/model.h"
#include "compiler/simplify/constants.h"
#include "compiler/simplify/simplify.h"
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

TensorData ToHost(const TensorValue& value, Arithmetic arithmetic) {
  TensorData tensor;
  tensor.dims = value.type.dims;
  tensor.type = arithmetic == Arithmetic::kHash ? ElementType::kI64 : ElementType::kF32;
  for (const Scalar& element : value.elements) {
    const float number = static_cast<float>(element.number);
    tensor.data.append(arithmetic == Arithmetic::kHash
                           ? reinterpret_cast<const char*>(&element.hash)
                           : reinterpret_cast<const char*>(&number),
                       arithmetic == Arithmetic::kHash ? 8 : 4);
  }
  return tensor;
}

// The first element that differs, or -1.
int64_t Difference(const TensorData& got, const TensorValue& expected, Arithmetic arithmetic) {
  for (size_t i = 0; i < expected.elements.size(); ++i) {
    if (arithmetic == Arithmetic::kHash) {
      uint64_t hash;
      std::memcpy(&hash, got.data.data() + 8 * i, 8);
      if (hash != expected.elements[i].hash) return static_cast<int64_t>(i);
    } else {
      float number;
      std::memcpy(&number, got.data.data() + 4 * i, 4);
      const double wanted = expected.elements[i].number;
      if (!(std::abs(number - wanted) <= 1e-4 * (1 + std::abs(wanted)))) {
        return static_cast<int64_t>(i);
      }
    }
  }
  return -1;
}

void RunAndCompare(const Model& model, const search::Plan& plan, const program::Program& program,
                   Random& random, const runtime::RunOptions& options) {
  const Arithmetic arithmetic = program.hash_arithmetic() ? Arithmetic::kHash : Arithmetic::kFloat;
  auto loaded = runtime::LoadedProgram::FromMessage(program);
  REQUIRE_THAT(loaded, IsOk());
  auto session = runtime::Session::Open(*loaded, options);
  REQUIRE_THAT(session, IsOk());
  const Graph& graph = model.graph;
  std::vector<TensorValue> values = RandomValues(graph, arithmetic, random);
  for (size_t id = 0; id < values.size(); ++id) {
    if (graph.tensors[id].producer >= 0) continue;
    const auto known = model.values.find(static_cast<TensorId>(id));
    if (known != model.values.end()) {  // it is in the program
      const TensorType& type = graph.tensors[id].type;
      values[id] = ValueFromBytes(type.type, type.dims, *known->second.data);
      continue;
    }
    const absl::Status set =
        (*session)->Set(graph.tensors[id].name, ToHost(values[id], arithmetic));
    REQUIRE_THAT(set, IsOk());
  }
  for (int step = 0; step < 2; ++step) {  // the second step finds what the first left in the arena
    const absl::Status run = (*session)->Step();
    REQUIRE_THAT(run, IsOk());
  }
  InterpretGraph(graph, arithmetic, values);
  for (TensorId output : graph.outputs) {
    const auto got = (*session)->Get(graph.tensors[output].name);
    REQUIRE_THAT(got, IsOk());
    CHECK(Difference(*got, values[output], arithmetic) == -1);
  }
  if (arithmetic == Arithmetic::kFloat) {
    CHECK((*session)->statistics().bytes == 2 * search::CostOf(graph, plan).bytes());
  }
}

TEST_CASE("any legal plan runs and equals the whole, bit for bit in hash arithmetic") {
  for (int seed = 0; seed < 16; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Model model = RandomModel(random);
    const search::Plan plan = RandomPlan(model.graph, MeshOf(2 + seed % 7), random);
    runtime::RunOptions options;
    options.interleave = true;
    options.interleave_seed = seed;
    options.poison = options.guards = true;
    options.recognise = seed % 2 == 0;
    RunAndCompare(model, plan, CompiledProgram(model, plan, Arithmetic::kHash, true), random,
                  options);
  }
}

TEST_CASE("what tables move is the whole, under any legal plan") {
  for (int seed = 0; seed < 24; ++seed) {
    INFO("seed " << seed);
    Random random(300 + seed);
    Model model = RandomTables(random);
    KnowConditions(model);
    const search::Plan plan = RandomPlan(model.graph, MeshOf(2 + seed % 7), random);
    runtime::RunOptions options;
    options.interleave = true;
    options.interleave_seed = seed;
    options.poison = options.guards = true;
    const Arithmetic arithmetic = seed % 3 == 0 ? Arithmetic::kFloat : Arithmetic::kHash;
    const program::Program program = CompiledProgram(model, plan, arithmetic, true);
    CHECK_THAT(CheckMatchesGraph(model.graph, program), IsOk());
    CHECK_THAT(CheckCoverage(program), IsOk());
    RunAndCompare(model, plan, program, random, options);
  }
}

TEST_CASE("tables of a program can be set to what they are, and to nothing else") {
  Random random(1);
  Model model = RandomTables(random);
  KnowConditions(model);
  const search::Plan plan = RandomPlan(model.graph, MeshOf(2), random);
  auto loaded =
      runtime::LoadedProgram::FromMessage(CompiledProgram(model, plan, Arithmetic::kHash, true));
  REQUIRE_THAT(loaded, IsOk());
  auto session = runtime::Session::Open(*loaded, runtime::RunOptions());
  REQUIRE_THAT(session, IsOk());
  REQUIRE_FALSE(model.values.empty());
  for (const auto& [id, value] : model.values) {
    const Tensor& table = model.graph.tensors[id];
    TensorData data{table.type.type, table.type.dims, *value.data};
    CHECK_THAT((*session)->Set(table.name, data), IsOk());
    data.data[0] = static_cast<char>(data.data[0] + 1);
    CHECK_THAT((*session)->Set(table.name, data),
               StatusIs(absl::StatusCode::kInvalidArgument, "the values that " + table.name));
  }
}

TEST_CASE("accumulators give the whole, in any order of instructions, and move what they cost") {
  for (int seed = 0; seed < 12; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Mesh mesh = MeshOf(seed % 3 == 0 ? 8 : 2 + seed % 7);
    const Model model = RandomSums(mesh, random);
    const search::Plan plan = RandomPlan(model.graph, mesh, random);
    const Arithmetic arithmetic = seed % 2 == 0 ? Arithmetic::kHash : Arithmetic::kFloat;
    const program::Program program = CompiledProgram(model, plan, arithmetic, true);
    for (int order = 0; order < 3; ++order) {
      runtime::RunOptions options;
      options.interleave = true;
      options.interleave_seed = order;
      options.poison = options.guards = true;
      RunAndCompare(model, plan, program, random, options);
    }
  }
}

TEST_CASE("any legal plan runs in floats, with library calls and without, on threads") {
  for (int seed = 0; seed < 12; ++seed) {
    INFO("seed " << seed);
    Random random(100 + seed);
    const Model model = RandomModel(random);
    const search::Plan plan = RandomPlan(model.graph, MeshOf(2 + seed % 7), random);
    RunAndCompare(model, plan, CompiledProgram(model, plan, Arithmetic::kFloat, seed % 2 == 0),
                  random, runtime::RunOptions());
  }
}

// The outputs' bytes of a step with made-up values.
std::vector<std::string> OutputsOn(const std::shared_ptr<const runtime::LoadedProgram>& program,
                                   int threads) {
  runtime::RunOptions options;
  options.threads_per_device = threads;
  options.poison = options.guards = true;
  auto session = runtime::Session::Open(program, options);
  REQUIRE_THAT(session, IsOk());
  REQUIRE_THAT((*session)->Randomize(5), IsOk());
  REQUIRE_THAT((*session)->Step(), IsOk());
  std::vector<std::string> outputs;
  for (const program::Port& port : program->message().outputs()) {
    const auto output = (*session)->Get(port.name());
    REQUIRE_THAT(output, IsOk());
    outputs.push_back(output->data);
  }
  return outputs;
}

TEST_CASE("generated kernels give the same bits on any number of threads") {
  ModelBuilder builder;
  const TensorId x = builder.Input({700, 90});
  const TensorId product = builder.MatMul(x, builder.Input({90, 300}, TensorKind::kParameter));
  const TensorId moved = builder.AddRow(builder.Relu(product), builder.Input({300}));
  const TensorId sums = builder.Reduce(moved, Reducer::kSum);
  const Model model = builder.Finish({builder.SubtractColumn(moved, sums), sums});
  for (int devices : {1, 2, 3}) {
    INFO(devices << " devices");
    Random random(devices);
    const search::Plan plan = RandomPlan(model.graph, MeshOf(devices), random);
    const program::Program program = CompiledProgram(model, plan, Arithmetic::kFloat, false);
    int splits = 0;
    for (const program::Function& function : program.functions()) splits += function.splits_size();
    CHECK(splits >= program.functions_size());
    const auto loaded = runtime::LoadedProgram::FromMessage(program);
    REQUIRE_THAT(loaded, IsOk());
    const std::vector<std::string> alone = OutputsOn(*loaded, 1);
    for (int threads : {2, 3, 7}) CHECK(OutputsOn(*loaded, threads) == alone);
  }
}

}  // namespace
}  // namespace yuba::compiler
