// Programs of graphs with several entries are proved entry by entry; of seeded faults each is
// noticed by CheckCoverage or CheckMatchesGraph.
#include "runtime/program/entries.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compiler/memory/memory.h"
#include "compiler/simplify/simplify.h"
#include "compiler/spmd/spmd.h"
#include "compiler/verify/check_memory.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "runtime/program/program.pb.h"
#include "search/plan/plan.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

// Two entries over the weight w and the state s: `first` has y = relu(x w) and s = s + x, `second`
// the same of u.
Model TwoEntries() {
  ModelBuilder build;
  const TensorId x = build.Input({6, 6}), u = build.Input({6, 6});
  const TensorId w = build.Input({6, 6}, TensorKind::kParameter);
  const TensorId s = build.Input({6, 6});
  const TensorId y = build.Relu(build.MatMul(x, w)), next_x = build.Add(s, x);
  const TensorId z = build.Relu(build.MatMul(u, w)), next_u = build.Add(s, u);
  Model model = build.Finish({y, next_x, z, next_u});
  Graph& graph = model.graph;
  graph.entries = {{"first", 1}, {"second", 5}};
  for (size_t n = 3; n < graph.nodes.size(); ++n) graph.nodes[n].entry = 1;
  const auto state = static_cast<TensorId>(std::find(graph.inputs.begin(), graph.inputs.end(), s) -
                                           graph.inputs.begin());
  graph.inputs.erase(graph.inputs.begin() + state);
  graph.tensors[s].kind = TensorKind::kState;
  Link(graph);
  CarryStates(model, {{s, next_x, "next"}, {s, next_u, "next"}});
  return model;
}

struct Case {
  Model model = TwoEntries();
  program::Program program;

  explicit Case(int devices, int seed = 1) {
    Random random(seed);
    program = MakeSpmdProgram(model, RandomPlan(model.graph, yuba::MeshOf(devices), random),
                              Arithmetic::kHash);
  }
  auto* Instructions() { return program.mutable_instructions(); }
  // What the checks say; "" where they find nothing.
  std::string Refusal() const {
    absl::Status status = CheckCoverage(program);
    if (status.ok()) status = CheckMatchesGraph(model.graph, program);
    return std::string(status.message());
  }
  int KernelOf(const std::string& part, int from) const {
    for (int i = from; i < program.instructions_size(); ++i) {
      const program::Instruction& instruction = program.instructions(i);
      if (!instruction.has_kernel()) continue;
      const program::Function& function = program.functions(instruction.kernel().function());
      if (function.definitions(0).text().find(part) != std::string::npos) return i;
    }
    return -1;
  }
};

TEST_CASE("which entries use a buffer is the same for each alone and for all together") {
  const program::Program program = Case(2).program;
  const std::vector<std::vector<bool>> all = program::EntriesByBuffer(program);
  REQUIRE(static_cast<int>(all.size()) == program.buffers_size());
  for (int b = 0; b < program.buffers_size(); ++b) {
    INFO(program.buffers(b).name());
    CHECK(all[b] == program::EntriesThatUse(program, b));
  }
  // The weight is read by both, an input by its own.
  CHECK(std::count(all.begin(), all.end(), std::vector<bool>{true, true}) > 0);
  CHECK(std::count(all.begin(), all.end(), std::vector<bool>{true, false}) > 0);
  CHECK(std::count(all.begin(), all.end(), std::vector<bool>{false, true}) > 0);
}

TEST_CASE("a state that two entries write is one tensor, which each reads as it begins") {
  const Graph graph = TwoEntries().graph;
  int carried = 0;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!IsCarried(tensor)) continue;
    ++carried;
    CHECK(tensor.next_name == "next");
    REQUIRE(tensor.producers.size() == 2);
    CHECK(graph.nodes[tensor.producers[0]].entry == 0);
    CHECK(graph.nodes[tensor.producers[1]].entry == 1);
    for (const NodeId reader : tensor.consumers) {
      CHECK(ProducerFor(graph, static_cast<TensorId>(t), reader) == -1);
    }
  }
  CHECK(carried == 1);
  CHECK(graph.outputs.size() == 3);  // the state once
  CHECK(NodesOf(graph, 0) == Interval{0, 3});
  CHECK(NodesOf(graph, 1) == Interval{3, 6});
}

TEST_CASE("programs of two entries are proved under any plan, their arena too") {
  for (int seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Case c(1 + seed % 6, seed);
    CHECK(c.Refusal().empty());
    PlanMemory(c.program, 0);
    CHECK_THAT(CheckMemory(c.program), IsOk());
  }
}

TEST_CASE("an entry that begins elsewhere is refused") {
  for (const int by : {-1, 1}) {
    Case c(3);
    program::Entry* second = c.program.mutable_entries(1);
    second->set_begin(second->begin() + by);
    CHECK_FALSE(c.Refusal().empty());
  }
  Case c(2);
  c.program.clear_entries();
  CHECK(c.Refusal().find("other entries") != std::string::npos);
}

TEST_CASE("an entry that reads what another one computed is refused") {
  // On one device relu reads what the product has written; both products have one shape.
  Case c(1);
  const int second = c.program.entries(1).begin();
  const int product = c.KernelOf("sum", 0), relu = c.KernelOf("max", second);
  REQUIRE(product >= 0);
  REQUIRE(relu >= second);
  const int other = c.Instructions()->at(product).kernel().results(0).buffer();
  c.Instructions()->at(relu).mutable_kernel()->mutable_operands(0)->set_buffer(other);
  CHECK(c.Refusal().find("which nothing has written") != std::string::npos);
}

TEST_CASE("an entry that leaves a state as it was is refused") {
  Case c(1);
  const int second = c.program.entries(1).begin();
  for (int i = second; i < c.Instructions()->size(); ++i) {
    if (!c.Instructions()->at(i).has_kernel()) continue;
    program::Access* result = c.Instructions()->at(i).mutable_kernel()->mutable_results(0);
    const program::Buffer& buffer = c.program.buffers(result->buffer());
    if (!buffer.initialized()) continue;
    program::Buffer aside = buffer;
    aside.set_initialized(false);
    *c.program.add_buffers() = aside;
    result->set_buffer(c.program.buffers_size() - 1);
  }
  CHECK(c.Refusal().find("entry second: the next value of") != std::string::npos);
}

}  // namespace
}  // namespace yuba::compiler
