// The text of a state says all of it: what is read back is what was written.
#include <catch2/catch.hpp>

#include "compiler/dump/state.h"
#include "compiler/memory/memory.h"
#include "compiler/spmd/recognise.h"
#include "compiler/spmd/spmd.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

Compilation RandomState(int seed, bool planned, bool with_program) {
  Random random(seed);
  Compilation state;
  state.model = RandomModel(random);
  state.model.file = "a \"quoted\"\nname.onnx";
  state.model.notes = {"one", "two"};
  state.model.graph_hash = "12ab";
  const search::Plan plan = RandomPlan(state.model.graph, MeshOf(2 + seed % 7), random);
  if (planned) {
    state.plan = plan;
    state.plan.cost = {1, 2, 3, 4};
    state.plan.lower_bound = 9;
    state.plan.proof = {search::ProofKind::kGrids,     {2, 0, 1}, 1,
                        {{0, 1, {-5, 7}}, {1, 0, {}}}, {{3, 40}}, {1, 2, 0}};
    state.plan.space.memory = 1 << 20;
    state.plan.space.accumulators = true;
    state.plan.replayed = true;
  }
  if (with_program) {
    state.program = MakeSpmdProgram(state.model, plan);
    RecogniseCollectives(state.program);
    PlanMemory(state.program);
    state.program.set_host_object(
        std::string("\x7f"
                    "ELF\0\1\xff\"",
                    8));
    state.program.mutable_functions(0)->set_symbol("k0");
    for (int f = 1; f < state.program.functions_size(); ++f) {
      state.program.mutable_functions(f)->mutable_library()->add_rows()->set_left_dim(-1);
    }
  }
  return state;
}

void CheckSameGraph(const Graph& a, const Graph& b) {
  REQUIRE(a.tensors.size() == b.tensors.size());
  for (size_t id = 0; id < a.tensors.size(); ++id) {
    CHECK(a.tensors[id].name == b.tensors[id].name);
    CHECK(a.tensors[id].kind == b.tensors[id].kind);
    CHECK(a.tensors[id].type == b.tensors[id].type);
    CHECK(a.tensors[id].dims == b.tensors[id].dims);
    CHECK(a.tensors[id].output == b.tensors[id].output);
    CHECK(a.tensors[id].consumers == b.tensors[id].consumers);
  }
  REQUIRE(a.nodes.size() == b.nodes.size());
  for (size_t id = 0; id < a.nodes.size(); ++id) {
    CHECK(a.nodes[id].name == b.nodes[id].name);
    CHECK(a.nodes[id].operands == b.nodes[id].operands);
    CHECK(a.nodes[id].result == b.nodes[id].result);
    CHECK(*a.nodes[id].definition == *b.nodes[id].definition);
  }
  CHECK(a.inputs == b.inputs);
  CHECK(a.outputs == b.outputs);
}

TEST_CASE("graphs, plans and programs come back as they were written") {
  for (int seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    const Compilation written = RandomState(seed, seed % 3 > 0, seed % 3 > 1);
    const std::string text = StateText(written);
    INFO(text);
    Compilation read;
    const absl::Status status = ParseState(text, "state.mlir", read);
    REQUIRE_THAT(status, IsOk());
    CheckSameGraph(written.model.graph, read.model.graph);
    CHECK(read.model.file == written.model.file);
    CHECK(read.model.notes == written.model.notes);
    CHECK(read.plan.mesh.axes == written.plan.mesh.axes);
    CHECK(read.plan.tensors == written.plan.tensors);
    CHECK(read.plan.nodes == written.plan.nodes);
    CHECK(read.plan.cost.bytes() == written.plan.cost.bytes());
    CHECK(read.plan.lower_bound == written.plan.lower_bound);
    CHECK(read.plan.proof.order == written.plan.proof.order);
    CHECK(read.plan.proof.plain == written.plan.proof.plain);
    CHECK(read.plan.proof.sweep == written.plan.proof.sweep);
    CHECK(read.plan.proof.messages == written.plan.proof.messages);
    CHECK(read.plan.proof.prices.size() == written.plan.proof.prices.size());
    CHECK(read.plan.space.memory == written.plan.space.memory);
    CHECK(read.plan.space.accumulators == written.plan.space.accumulators);
    CHECK(read.plan.replayed == written.plan.replayed);
    CHECK(read.program.SerializeAsString() == written.program.SerializeAsString());
    CHECK(StateText(read) == text);
  }
}

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// Two rows of eight, doubled and added; the second device has the second row.
std::string SmallText() {
  ModelBuilder build;
  const TensorId x = build.Input({2, 8});
  Compilation state;
  state.model = build.Finish({build.Add(x, x)});
  state.plan.mesh = MeshOf(2);
  state.plan.tensors.assign(2, {{{0}, {}}});
  state.plan.nodes.assign(1, {{{0}, {}}});
  state.program = MakeSpmdProgram(state.model, state.plan);
  PlanMemory(state.program);
  return StateText(state);
}

std::string ErrorOf(const std::string& text) {
  Compilation state;
  const absl::Status status = ParseState(text, "state.mlir", state);
  CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(status.message());
}

TEST_CASE("a changed text is refused with a place and a reason") {
  using Catch::Matchers::Contains;
  const std::string text = SmallText();
  INFO(text);
  CHECK_THAT(ErrorOf("module {"), Contains("state.mlir"));
  CHECK_THAT(ErrorOf("module {}"), Contains("no yuba.graph"));
  CHECK_THAT(ErrorOf(Replace(text, "call = \"add\"", "call = \"mul\"")), Contains("its text"));
  CHECK_THAT(ErrorOf(Replace(text, "call = \"add\"", "call = \"gelu\"")),
             Contains("no function is called gelu"));
  CHECK_THAT(ErrorOf(Replace(text, "[2/a, 8]", "[4/a, 8]")), Contains("is not one of its type"));
  CHECK_THAT(ErrorOf(Replace(text, "[2/a, 8]", "[2/q, 8]")), Contains("no mesh axis"));
  CHECK_THAT(ErrorOf(Replace(text, "reads = [\"[a(0 1)", "reads = [\"[a(0 0)")),
             Contains("on device 1 it touches [0, 2)"));
  CHECK_THAT(ErrorOf(Replace(text, "reads = [\"[a(0 1)", "reads = [\"[a(0)")),
             Contains("not one number for each place"));
}

// The state of a graph of one window.
std::string WindowText() {
  ModelBuilder build;
  const TensorId x = build.Input({8, 2});
  const TensorId filter = build.Input({3, 2}, TensorKind::kParameter);
  Compilation state;
  state.model = build.Finish({build.Window(x, filter, 1, 0)});
  return StateText(state);
}

TEST_CASE("a definition that leaves its operand is refused") {
  const std::string text = WindowText();
  INFO(text);
  // One more tap of the filter than it has.
  CHECK_THAT(ErrorOf(Replace(text, "extent = 3", "extent = 4")),
             Catch::Matchers::Contains("it reads [0, 4)"));
}

TEST_CASE("numbers of index expressions that could overflow are refused") {
  const std::string text = WindowText();
  INFO(text);
  for (const char* large : {"d0 * 4611686018427387904", "d0 - 9223372036854775806"}) {
    CHECK_THAT(ErrorOf(Replace(text, "-> (d0", std::string("-> (") + large)),
               Catch::Matchers::Contains("too large numbers"));
  }
}

}  // namespace
}  // namespace yuba::compiler
