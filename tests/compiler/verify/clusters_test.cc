// Of seeded faults in kernels of several nodes each is noticed by CheckCoverage or
// CheckMatchesGraph: wrong tensors, kernels joined across an exchange, lost results, and nodes that
// cannot be computed value by value.
#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "compiler/cluster/cluster.h"
#include "compiler/spmd/spmd.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/carried_graphs.h"
#include "tests/compiler/support/emulator.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

using Catch::Matchers::Contains;

search::Plan Whole(const Graph& graph) {
  search::Plan plan;
  plan.mesh = yuba::MeshOf(1);
  for (const Tensor& tensor : graph.tensors) {
    plan.tensors.emplace_back(std::vector<AxisList>(tensor.type.dims.size()));
  }
  for (const Node& node : graph.nodes) {
    plan.nodes.emplace_back(std::vector<AxisList>(node.definition->indices.size()));
  }
  return plan;
}

// What the checks say; "" where they find nothing.
std::string Refusal(const Model& model, const program::Program& program) {
  absl::Status status = CheckCoverage(program);
  if (status.ok()) status = CheckMatchesGraph(model.graph, program);
  CHECK((status.ok() || absl::IsFailedPrecondition(status) || absl::IsInvalidArgument(status)));
  return std::string(status.message());
}

// x -> most, least by rows; x - most, then - least: one kernel with two internal tensors.
struct Rows {
  Rows() {
    ModelBuilder build;
    const TensorId x = build.Input({6, 5});
    const TensorId most = build.Reduce(x, Reducer::kMax), least = build.Reduce(x, Reducer::kMin);
    model = build.Finish({build.SubtractColumn(build.SubtractColumn(x, most), least)});
    ClusterModel(model, 1);
    program = MakeSpmdProgram(model, Whole(model.graph), Arithmetic::kHash);
    REQUIRE(program.instructions_size() == 1);
    REQUIRE(kernel().internals_size() == 2);
  }
  program::Kernel& kernel() { return *program.mutable_instructions(0)->mutable_kernel(); }
  program::FunctionDefinition& definition(int d) {
    return *program.mutable_functions(0)->mutable_definitions(d);
  }
  Model model;
  program::Program program;
};

TEST_CASE("a cluster that is sound is proved") {
  Rows rows;
  CHECK(Refusal(rows.model, rows.program) == "");
}

TEST_CASE("an internal tensor that another definition computed is noticed") {
  Rows rows;
  // x - most reads `least`.
  rows.definition(2).mutable_operands(1)->set_internal(1);
  CHECK_THAT(Refusal(rows.model, rows.program), Contains("which does not hold y1"));
}

TEST_CASE("definitions that compute each other's tensors are noticed") {
  Rows rows;
  rows.definition(0).mutable_computes()->set_internal(1);
  rows.definition(1).mutable_computes()->set_internal(0);
  CHECK_THAT(Refusal(rows.model, rows.program), Contains("does not hold"));
}

TEST_CASE("an internal tensor of which too little is computed is noticed") {
  Rows rows;
  program::Box& box = *rows.kernel().mutable_internals(0)->mutable_box();
  box.mutable_dims(0)->mutable_end()->set_values(0, 5);
  CHECK_THAT(Refusal(rows.model, rows.program), Contains("the program says [0, 5)"));
}

TEST_CASE("an internal tensor of which several elements are computed at once is noticed") {
  Rows rows;
  program::Kernel& kernel = rows.kernel();
  // The difference becomes internal: its slice is a row.
  const program::KernelTensor difference = rows.definition(2).computes();
  REQUIRE(difference.has_result());
  const int buffer = kernel.results(difference.result()).buffer();
  program::Internal& internal = *kernel.add_internals();
  *internal.mutable_dims() = rows.program.buffers(buffer).dims();
  internal.set_type(rows.program.buffers(buffer).type());
  internal.set_name("difference");
  *internal.mutable_box() = kernel.results(difference.result()).box();
  const int result = difference.result();
  rows.definition(2).mutable_computes()->set_internal(2);
  for (auto& operand : *rows.definition(3).mutable_operands()) {
    if (operand.has_result() && operand.result() == result) operand.set_internal(2);
  }
  kernel.mutable_results()->DeleteSubrange(result, 1);
  rows.definition(3).mutable_computes()->set_result(0);
  CHECK_THAT(Refusal(rows.model, rows.program), Contains("several of its elements"));
}

TEST_CASE("a result that is kept inside is lost where others read it") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 5});
  const TensorId y = build.Relu(x), z = build.Add(x, y);
  Model model = build.Finish({z, y});
  ClusterModel(model, 1);
  program::Program program = MakeSpmdProgram(model, Whole(model.graph), Arithmetic::kHash);
  program::Kernel& kernel = *program.mutable_instructions(0)->mutable_kernel();
  REQUIRE(kernel.results_size() == 2);
  program::Internal& internal = *kernel.add_internals();
  const program::Buffer& buffer = program.buffers(kernel.results(0).buffer());
  internal.set_type(buffer.type());
  *internal.mutable_dims() = buffer.dims();
  *internal.mutable_box() = kernel.results(0).box();
  kernel.mutable_results()->DeleteSubrange(0, 1);
  program::Function& function = *program.mutable_functions(0);
  function.mutable_definitions(0)->mutable_computes()->set_internal(0);
  function.mutable_definitions(1)->mutable_computes()->set_result(0);
  for (auto& operand : *function.mutable_definitions(1)->mutable_operands()) {
    if (operand.has_result()) operand.set_internal(0);
  }
  CHECK_THAT(Refusal(model, program), Contains("nothing writes"));
}

// Joins the kernels at instructions `a` and `b` by hand, whatever is wrong with that: the joined
// one stands where `a` was. They share their first index. What the second reads in a buffer that
// the first one writes it reads as the first one's result.
program::Program Joined(program::Program program, int a, int b) {
  program::Kernel first = program.instructions(a).kernel(),
                  second = program.instructions(b).kernel();
  program::Function function = program.functions(first.function());
  const program::Function& other = program.functions(second.function());
  const int operands = first.operands_size(), indices = first.indices_size();
  program::FunctionDefinition definition = other.definitions(0);
  definition.clear_indices();
  definition.add_indices(0);
  for (int i = 1; i < other.indices_size(); ++i) {
    definition.add_indices(indices + i - 1);
    *function.add_indices() = other.indices(i);
    *first.add_indices() = second.indices(i);
  }
  for (int o = 0; o < second.operands_size(); ++o) {
    *first.add_operands() = second.operands(o);
    definition.mutable_operands(o)->set_operand(operands + o);
    if (second.operands(o).buffer() == first.results(0).buffer()) {
      definition.mutable_operands(o)->set_result(0);
    }
  }
  definition.mutable_computes()->set_result(1);
  *first.add_results() = second.results(0);
  first.add_node(second.node(0));
  first.add_from("");
  *function.add_definitions() = definition;
  first.set_function(program.functions_size());
  *program.add_functions() = function;
  *program.mutable_instructions(a)->mutable_kernel() = first;
  program.mutable_instructions()->DeleteSubrange(b, 1);
  return program;
}

TEST_CASE("kernels that are joined across an exchange are noticed") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 4});
  const TensorId y = build.Relu(x);
  const TensorId z = build.AddRow(y, build.Input({4}));
  const Model model = build.Finish({z, y});
  search::Plan plan = Whole(model.graph);
  plan.mesh = yuba::MeshOf(2);
  // y is computed and stored by rows, and read whole.
  plan.tensors[y].axes = {{0}, {}};
  plan.nodes[0].axes = {{0}, {}};
  const program::Program program = MakeSpmdProgram(model, plan, Arithmetic::kHash, Joins::kNone);
  REQUIRE(program.instructions_size() >= 3);
  CHECK(Refusal(model, program) == "");
  int kernels[2], found = 0;
  for (int i = 0; i < program.instructions_size(); ++i) {
    if (program.instructions(i).has_kernel()) kernels[found++] = i;
  }
  REQUIRE(found == 2);
  REQUIRE(kernels[1] > kernels[0] + 1);
  CHECK(Refusal(model, Joined(program, kernels[0], kernels[1])) != "");
}

TEST_CASE("nodes that cannot be computed value by value are noticed") {
  ModelBuilder build;
  const TensorId x = build.Input({8, 5}), f = build.Input({3, 5}, TensorKind::kParameter);
  const TensorId y = build.Relu(x);
  const TensorId z = build.Window(y, f, 1, 1);
  const Model model = build.Finish({z, y});
  const program::Program apart =
      MakeSpmdProgram(model, Whole(model.graph), Arithmetic::kHash, Joins::kNone);
  CHECK(Refusal(model, apart) == "");
  CHECK_THAT(Refusal(model, Joined(apart, 0, 1)), Contains("at other values"));
}

TEST_CASE("a state that is written over before all of it is read is noticed") {
  ModelBuilder build;
  const TensorId s = build.Input({8, 5}), f = build.Input({3, 5}, TensorKind::kParameter);
  const TensorId y = build.Window(s, f, 1, 1);  // reads other rows of s
  const TensorId next = build.Add(s, build.Input({8, 5}));
  const CarriedModel carried = Carried(build.Finish({next, y}), {{s, next}});
  const program::Program apart =
      MakeSpmdProgram(carried.model, Whole(carried.model.graph), Arithmetic::kHash, Joins::kNone);
  CHECK(Refusal(carried.model, apart) == "");
  REQUIRE(apart.instructions_size() == 2);
  CHECK_THAT(Refusal(carried.model, Joined(apart, 0, 1)), Contains("at other values"));
}

// Maps of two inputs that are two sections of one kernel.
struct Beside {
  Beside() {
    ModelBuilder build;
    const TensorId x = build.Input({6, 5}), row = build.Input({6, 5});
    model = build.Finish({build.Relu(x), build.Relu(row)});
    program = MakeSpmdProgram(model, Whole(model.graph), Arithmetic::kHash, Joins::kRows);
    REQUIRE(program.instructions_size() == 1);
  }
  program::Kernel& kernel() { return *program.mutable_instructions(0)->mutable_kernel(); }
  Model model;
  program::Program program;
};

TEST_CASE("sections that have nothing to do with each other are proved") {
  Beside beside;
  CHECK(Refusal(beside.model, beside.program) == "");
}

TEST_CASE("a section that reads what another one computes is noticed") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 5});
  const TensorId y = build.Relu(x), z = build.Relu(y);
  const Model model = build.Finish({y, z});
  program::Program program =
      MakeSpmdProgram(model, Whole(model.graph), Arithmetic::kHash, Joins::kRows);
  REQUIRE(program.instructions_size() == 2);
  program = Joined(program, 0, 1);
  REQUIRE(Refusal(model, program) == "");  // they share their first index
  program::Function& function =
      *program.mutable_functions(program.instructions(0).kernel().function());
  program::Kernel& kernel = *program.mutable_instructions(0)->mutable_kernel();
  function.mutable_definitions(1)->set_indices(0, function.indices_size());
  *function.add_indices() = function.indices(0);
  *kernel.add_indices() = kernel.indices(0);
  CHECK_THAT(Refusal(model, program), Contains("with which it shares no index"));
}

TEST_CASE("a section that keeps its result inside is noticed") {
  Beside beside;
  program::Kernel& kernel = beside.kernel();
  program::Internal& internal = *kernel.add_internals();
  const program::Buffer& buffer = beside.program.buffers(kernel.results(1).buffer());
  internal.set_type(buffer.type());
  *internal.mutable_dims() = buffer.dims();
  *internal.mutable_box() = kernel.results(1).box();
  kernel.mutable_results()->RemoveLast();
  beside.program.mutable_functions(0)->mutable_definitions(1)->mutable_computes()->set_internal(0);
  CHECK(Refusal(beside.model, beside.program) != "");
}

// One change at random to which tensors and indices definitions have, or to a box.
void Change(program::Program& program, Random& random) {
  std::vector<int> clusters;
  for (int i = 0; i < program.instructions_size(); ++i) {
    const program::Instruction& instruction = program.instructions(i);
    if (instruction.has_kernel() && instruction.kernel().node_size() > 1) clusters.push_back(i);
  }
  program::Kernel& kernel =
      *program.mutable_instructions(clusters[random() % clusters.size()])->mutable_kernel();
  program::Function& function = *program.mutable_functions(kernel.function());
  program::FunctionDefinition& definition =
      *function.mutable_definitions(random() % function.definitions_size());
  const auto change = [&](program::KernelTensor* tensor) {
    switch (random() % 3) {
      case 0: tensor->set_operand(random() % (kernel.operands_size() + 1)); break;
      case 1: tensor->set_result(random() % (kernel.results_size() + 1)); break;
      default: tensor->set_internal(random() % (kernel.internals_size() + 1)); break;
    }
  };
  const auto shift = [&](program::Range* range) {
    program::Bound* bound = random() % 2 == 0 ? range->mutable_begin() : range->mutable_end();
    const int row = static_cast<int>(random() % bound->values_size());
    bound->set_values(row, bound->values(row) + (random() % 2 == 0 ? 1 : -1));
  };
  switch (random() % 6) {
    case 0: change(definition.mutable_operands(random() % definition.operands_size())); break;
    case 1: change(definition.mutable_computes()); break;
    case 2:
      definition.set_indices(random() % definition.indices_size(),
                             random() % function.indices_size());
      break;
    case 3: shift(kernel.mutable_indices(random() % kernel.indices_size())); break;
    case 4: {
      program::Box* box = kernel.mutable_results(random() % kernel.results_size())->mutable_box();
      if (box->dims_size() > 0) shift(box->mutable_dims(random() % box->dims_size()));
      break;
    }
    default:
      if (kernel.internals_size() == 0) break;
      shift(kernel.mutable_internals(random() % kernel.internals_size())
                ->mutable_box()
                ->mutable_dims(0));
  }
}

TEST_CASE("a cluster with one thing changed is refused, or still right") {
  int refused = 0, right = 0;
  for (int seed = 0; seed < 1500; ++seed) {
    Random random(seed % 100);
    CarriedModel carried = RandomCarried(random);
    ClusterModel(carried.model, 1);
    const search::Plan plan = RandomPlan(carried.model.graph, yuba::MeshOf(1 + seed % 4), random);
    program::Program program = MakeSpmdProgram(carried.model, plan, Arithmetic::kHash);
    bool clusters = false;
    for (const auto& instruction : program.instructions()) {
      clusters |= instruction.kernel().node_size() > 1;
    }
    if (!clusters) continue;
    random.seed(seed);
    const program::Program before = program;
    Change(program, random);
    if (program.SerializeAsString() == before.SerializeAsString()) continue;
    INFO("seed " << seed);
    if (!Refusal(carried.model, program).empty()) {
      ++refused;
      continue;
    }
    Random other(7);
    const auto values = RandomValues(carried.before.graph, Arithmetic::kHash, other);
    const Emulation emulation =
        Emulate(program, carried.model.graph, ValuesOfModel(carried, values), 3);
    CHECK(emulation.fault == "");
    CHECK(SameElements(emulation.outputs, StepsByHand(carried, values, 3).back()));
    ++right;
  }
  CHECK(refused > 200);
  CHECK(right > 0);
}

}  // namespace
}  // namespace yuba::compiler
