// The text of a state says all of it: what is read back is what was written.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "compiler/cluster/cluster.h"
#include "compiler/dump/module.h"
#include "compiler/dump/state.h"
#include "compiler/memory/memory.h"
#include "compiler/simplify/simplify.h"
#include "compiler/spmd/recognise.h"
#include "compiler/spmd/spmd.h"
#include "llvm/Support/raw_ostream.h"
#include "opsemantics/sharding/mesh_text.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

// A library call in which every field has another value.
program::LibraryCall EveryField() {
  program::LibraryCall call;
  call.set_left(1);
  call.set_right(2);
  call.set_kind(program::LibraryCall::CONVOLUTION);
  call.set_type(program::BF16);
  call.set_accumulator(program::F64);
  int next = 3;
  for (auto* list : {call.mutable_batch(), call.mutable_groups(), call.mutable_rows(),
                     call.mutable_columns(), call.mutable_inner()}) {
    for (int i = 0; i < 2; ++i) {
      program::LibraryIndex* index = list->Add();
      index->set_index(next++);
      index->set_left_dim(i == 0 ? -1 : next++);
      index->set_right_dim(i == 1 ? -1 : next++);
      index->set_result_dim(next++);
    }
  }
  program::LibraryWindow* window = call.add_windows();
  window->set_output(next++);
  window->set_kernel(next++);
  window->set_stride(next++);
  window->set_dilation(next++);
  window->set_low(-next++);
  window->set_input_dim(next++);
  window->set_filter_dim(next++);
  window->set_output_dim(next++);
  window->set_input(next++);
  return call;
}

// As where operands are unreduced: an index that numbers groups, a partial that is read, a table of
// groups.
void HaveGroups(program::Program& program) {
  program::FunctionIndex* index = program.mutable_functions(0)->mutable_indices(0);
  index->set_reduction(true);
  index->set_groups(true);
  index->set_determined(true);
  for (auto& instruction : *program.mutable_stages(0)->mutable_instructions()) {
    if (instruction.has_kernel()) {
      instruction.mutable_kernel()->mutable_operands(0)->set_partial(true);
    } else if (!instruction.exchange().reduce()) {
      instruction.mutable_exchange()->clear_collective();
      instruction.mutable_exchange()->clear_axes();
      program::Bound* group = instruction.mutable_exchange()->mutable_group();
      group->add_axes(0);
      for (int i = 0; i < program.mesh(0).size(); ++i) group->add_values(i);
    }
  }
}

Compilation RandomState(int seed, bool planned, bool with_program) {
  Random random(seed);
  Compilation state;
  state.model = RandomModel(random);
  if (seed % 2 == 0) ClusterModel(state.model, 1);
  state.model.file = "a \"quoted\"\nname.onnx";
  state.model.notes = {"one", "two"};
  state.model.graph_hash = "12ab";
  const Mesh mesh = seed % 5 == 0 ? *MeshOfGroups("data=2,model=4") : MeshOf(2 + seed % 7);
  const search::Plan plan = RandomPlan(state.model.graph, mesh, random);
  if (planned) {
    state.plan = plan;
    state.plan.cost = {1, 2, 3, 4};
    state.plan.lower_bound = 9;
    state.plan.proof = {search::ProofKind::kGrids,     {2, 0, 1}, {1, 2, 0}, 1,
                        {{0, 1, {-5, 7}}, {1, 0, {}}}, {{3, 40}}};
    state.plan.space.memory = 1 << 20;
    state.plan.space.accumulators = true;
    state.plan.replayed = true;
    state.plan.space.pins = {{0, {{{0}, true}, {{}, false}}}, {2, {}}, {3, {{{}, true}}}};
    state.plan.space.pin_texts = {"x=[a, -]", "a \"quoted\"=\n"};
    state.plan.unpinned = search::Unpinned{8, 5};
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
    for (int i = 0; i < 2; ++i) {
      program::IndexSplit* split = state.program.mutable_functions(0)->add_splits();
      split->set_step(int64_t{4} << i);
    }
    if (seed % 4 == 0) HaveGroups(state.program);
    for (int f = 1; f < state.program.functions_size(); ++f) {
      if (state.program.functions(f).definitions_size() > 1) continue;
      *state.program.mutable_functions(f)->mutable_library() = EveryField();
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
    const absl::Status status = ParseState(text, "state.mlir", read).status();
    REQUIRE_THAT(status, IsOk());
    CHECK(read.model.clusters == written.model.clusters);
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
    CHECK(read.plan.space.pins == written.plan.space.pins);
    CHECK(read.plan.space.pin_texts == written.plan.space.pin_texts);
    CHECK(read.plan.unpinned == written.plan.unpinned);
    CHECK(read.plan.replayed == written.plan.replayed);
    CHECK(read.program.SerializeAsString() == written.program.SerializeAsString());
    CHECK(StateText(read) == text);
  }
}

TEST_CASE("an attribute reads the same outside of an operation's own syntax") {
  const Compilation written = RandomState(5, true, true);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string text;
  llvm::raw_string_ostream stream(text);
  WriteModule(&context, written)->print(stream, mlir::OpPrintingFlags().printGenericOpForm());
  INFO(text);
  for (const char* name :
       {"mesh", "axes", "bound", "box", "access", "kind", "reducer", "collective", "index",
        "port_kind", "library", "sharding", "partition"}) {
    CHECK_THAT(text, Catch::Matchers::Contains(std::string("#yuba.") + name + "<"));
  }
  Compilation read;
  const absl::Status status = ParseState(text, "state.mlir", read).status();
  INFO(status.message());
  REQUIRE(status.ok());
  CHECK(StateText(read) == StateText(written));
}

TEST_CASE("the values of a model come back as they were written") {
  const std::string file = std::string(std::getenv("TEST_TMPDIR")) + "/values.bin";
  Model written, read;
  written.values[3] = {InitialValue::kData, std::make_shared<std::string>("\0\1\2\3", 4)};
  written.values[5] = {InitialValue::kFill, std::make_shared<std::string>("")};
  written.values[7] = {};
  written.values[9] = {InitialValue::kFile, nullptr, {"w.data", 8, 16, 64}};
  written.values[11].kind = InitialValue::kDrawn;
  written.values[11].draw = {Draw::kNormal, 0.5, 0.02, 77};
  read.values[1] = written.values[3];
  REQUIRE(WriteValues(written, file).ok());
  REQUIRE(ReadValues(file, read).ok());
  REQUIRE(read.values.size() == 5);
  for (const auto& [id, value] : written.values) {
    CHECK(read.values[id].kind == value.kind);
    CHECK(read.values[id].range == value.range);
    CHECK(read.values[id].draw == value.draw);
    if (value.data != nullptr) CHECK(*read.values[id].data == *value.data);
  }
  CHECK(read.values[7].data == nullptr);
  std::ofstream(file) << "no message";
  const absl::Status status = ReadValues(file, read);
  CHECK_THAT(std::string(status.message()), Catch::Matchers::Contains("no values of a dump"));
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
  state.plan.tensors.assign(2, search::Choice{{{0}, {}}});
  state.plan.nodes.assign(1, search::Choice{{{0}, {}}});
  state.program = MakeSpmdProgram(state.model, state.plan);
  PlanMemory(state.program);
  return StateText(state);
}

std::string ErrorOf(const std::string& text) {
  Compilation state;
  const absl::Status status = ParseState(text, "state.mlir", state).status();
  CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(status.message());
}

// An attribute that is written wrong is refused where it stands: with `to` in the place of `from`
// the error names the line and the column of `wrong`, which is a part of `to`.
void CheckRefused(const std::string& text, const std::string& from, const std::string& to,
                  const std::string& wrong, const std::string& reason) {
  const std::string changed = Replace(text, from, to);
  const size_t at = text.find(from) + to.find(wrong);
  const size_t line = std::count(changed.begin(), changed.begin() + at, '\n') + 1;
  const size_t column = at - changed.rfind('\n', at);
  const std::string place =
      "state.mlir:" + std::to_string(line) + ":" + std::to_string(column) + ": error: ";
  INFO(from << " becomes " << to);
  INFO(changed);
  const std::string error = ErrorOf(changed);
  CHECK_THAT(error, Catch::Matchers::StartsWith(place) && Catch::Matchers::Contains(reason));
  CHECK(error.find("loc(") == std::string::npos);
}

TEST_CASE("an attribute that is written wrong is refused where it stands") {
  const std::string text = SmallText();
  INFO(text);
  CheckRefused(text, "sharding<[2/a, 8]", "sharding<[2/a, -8]", "-8", "an extent expected");
  CheckRefused(text, "sharding<[2/a, 8]", "sharding<[2/, 8]", ", 8", "a mesh axis expected");
  CheckRefused(text, "sharding<[2/a, 8]", "sharding<[(2/a, 4), 8]", ", 4", "an extent expected");
  CheckRefused(text, "sharding<[2/a, 8]>", "sharding<[2/a, 8] x>", "x>", "'>' expected");
  CheckRefused(text, "sharding<[2/a, 8]", "share<[2/a, 8]", "share", "no attribute of yuba");
  CheckRefused(text, "partition<i0/a>", "partition<i0 a>", "a>", "'/' expected");
  CheckRefused(text, "partition<i0/a>", "partition</a>", "/a", "an index expected");
  CheckRefused(text, "partition<i0/a>", "partition<i0/a+>", ">", "a mesh axis expected");
  CheckRefused(text, "graph mesh a=2", "graph mesh a:2", ":2", "expected '='");
  CheckRefused(text, "graph mesh a=2", "graph mesh a=0", "a=0", "an axis needs a size");
  CheckRefused(text, "graph mesh a=2", "graph mesh a=2 b=65537", "b", "too many devices");
  CheckRefused(text, "graph mesh a=2", "graph mesh a=2 b=2 a=3", "a=3", "a second axis a");
  CheckRefused(text, "\"x0\" [a(0 1):a(1 2), 0:8]", "\"x0\" [a(0 1), 0:8]", ", 0:8",
               "expected ':'");
  CheckRefused(text, "\"x0\" [a(0 1):", "\"x0\" [a[0 1]:", "[0 1", "a table like ab(0 1 2 3)");
  CheckRefused(text, "reads (%0 [a(0 1)", "reads (%0 [a(0 x)", "x)", "expected integer value");
  CheckRefused(text, "writes %1 [", "writes %1 part [", " part", "expected '['");
  CheckRefused(text, "\"x0\" input", "\"x0\" output", "output", "one of input, weight, constant");
  CheckRefused(text, "(i0:2, i1:8) none", "(i0:2, i1:8) mean", "mean", "one of none, sum, ");
  CheckRefused(text, "(i0:2, i1:8)", "(i0:2, i1:x)", "x)", "expected integer value");
  CheckRefused(text, "(i0:2, i1:8)", "(i0:2, i1 8)", " 8", "expected ':'");
}

TEST_CASE("a cluster and its kernel come back, and what is wrong of them is refused") {
  ModelBuilder build;
  const TensorId x = build.Input({2, 8});
  const TensorId sum = build.Reduce(x, Reducer::kSum);
  const TensorId shifted = build.SubtractColumn(x, sum);
  Compilation state;
  state.model = build.Finish({build.Add(shifted, x), shifted});
  ClusterModel(state.model, 1);
  REQUIRE(state.model.clusters.size() == 1);
  state.plan.mesh = MeshOf(1);
  for (const Tensor& tensor : state.model.graph.tensors)
    state.plan.tensors.emplace_back(std::vector<AxisList>(tensor.type.dims.size()));
  for (const Node& node : state.model.graph.nodes)
    state.plan.nodes.emplace_back(std::vector<AxisList>(node.definition->indices.size()));
  state.program = MakeSpmdProgram(state.model, state.plan);
  PlanMemory(state.program);
  const std::string text = StateText(state);
  INFO(text);
  Compilation read;
  REQUIRE_THAT(ParseState(text, "state.mlir", read), IsOk());
  CHECK(read.model.clusters == state.model.clusters);
  CHECK(read.program.SerializeAsString() == state.program.SerializeAsString());
  CHECK(read.program.stages(0).instructions(0).kernel().internals_size() == 1);
  CheckRefused(text, "reads (operand 0, internal 0)", "reads (operand 0, inner 0)", "inner",
               "one of operand, result, internal");
  CheckRefused(text, "reads (operand 0, internal 0)", "reads (operand 0, internal x)", "x)",
               "expected integer value");
  CheckRefused(text, "sum over (0, 1)", "mean over (0, 1)", "mean", "one of none, sum, ");
  CheckRefused(text, "to internal 0", "into internal 0", "into", "expected 'to'");
  CHECK_THAT(
      ErrorOf(Replace(text, "reads (operand 0, internal 0)", "reads (operand 0, internal 1)")),
      Catch::Matchers::Contains("it reads a tensor that the kernel does not have"));
  CHECK_THAT(ErrorOf(Replace(text, "internals [\"y1\" [0:2]", "internals [\"y1\" [0:2, 0:1]")),
             Catch::Matchers::Contains("a box of rank 2"));
  CHECK_THAT(ErrorOf(Replace(text, "memref<2xf32>]", "f32]")),
             Catch::Matchers::Contains("needs a type like memref"));
  CHECK_THAT(
      ErrorOf(Replace(text, "clusters = [array<i32: 1, 0, 1", "clusters = [array<i32: 1, 0, 9")),
      Catch::Matchers::Contains("a cluster of tensor 9"));
  CHECK_THAT(ErrorOf(Replace(text, "clusters = [array<i32: 1, 0, 1, 2",
                             "clusters = [array<i32: 1, 0, 2, 2")),
             Catch::Matchers::Contains("a cluster of tensor 2"));
}

TEST_CASE("a wrong exchange is refused where it stands") {
  ModelBuilder build;
  const TensorId x = build.Input({2, 4});
  const TensorId w = build.Input({4, 2}, TensorKind::kParameter);
  Compilation state;
  state.model = build.Finish({build.MatMul(x, w)});
  state.plan.mesh = MeshOf(2);
  state.plan.tensors = {search::Choice{{{}, {0}}}, search::Choice{{{0}, {}}},
                        search::Choice{{{0}, {}}}};
  state.plan.nodes = {search::Choice{{{}, {}, {0}}}};
  state.program = MakeSpmdProgram(state.model, state.plan);
  RecogniseCollectives(state.program);
  PlanMemory(state.program);
  const std::string text = StateText(state);
  INFO(text);
  CheckRefused(text, "reduce_scatter over a", "scatter over a", "scatter", "one of plain, ");
  CheckRefused(text, "reduce_scatter over a", "reduce_scatter over a+2", "2", "valid keyword");
  CheckRefused(text, "reducer sum", "reducer mean", "mean", "one of none, sum, ");
  CheckRefused(text, "partial a(0 1)", "partial a[0 1]", "[0 1]", "a table like ab(0 1 2 3)");
  CHECK_THAT(ErrorOf(Replace(text, "reduce_scatter over a", "reduce_scatter over b")),
             Catch::Matchers::Contains("no mesh axis is called 'b'"));
  CHECK_THAT(ErrorOf(Replace(text, "partial a(0 1)", "partial a(0)")),
             Catch::Matchers::Contains("a bound with 1 values where its axes make 2"));
}

TEST_CASE("a wrong library call and a wrong port are refused where they stand") {
  Compilation state = RandomState(2, true, true);
  REQUIRE(state.program.functions_size() > 1);
  state.program.mutable_functions(0)->set_symbol("");
  *state.program.mutable_functions(0)->mutable_library() = EveryField();
  const std::string text = StateText(state);
  INFO(text);
  CheckRefused(text, "library (left = 1", "library (loft = 1", "loft", "one of left, right, ");
  CheckRefused(text, "library (left = 1", "library (left = x", "x", "expected integer value");
  CheckRefused(text, "library (left = 1, right", "library (left = 1, left = 1, right",
               "left = 1, right", "left twice");
  CheckRefused(text, "library (left = 1, right = 2", "library (right = 2", "(right",
               "left and right");
  CheckRefused(text, "kind = convolution", "kind = convoluted", "convoluted",
               "one of contraction, convolution, data_gradient, weight_gradient");
  CheckRefused(text, "type = bf16", "type = bf17", "bf17", "an element type");
  CheckRefused(text, "batch = [<index = 3", "batch = [<number = 3", "3", "number");
  CheckRefused(text, "stride = ", "stride = 99999999999999999999 ", "99", "integer");
  CheckRefused(text, "yuba.port input", "yuba.port to", "to", "one of input, output, parameter");
  CheckRefused(text, "shape [", "shape [many, ", "many", "expected integer value");
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
  CHECK_THAT(ErrorOf(Replace(text, "partition<i0/a>", "partition<j/a>")),
             Contains("no index for j of the partition j/a"));
  CHECK_THAT(ErrorOf(Replace(text, "by #yuba.partition<i0/a> ", "")), Contains("no partition"));
  CHECK_THAT(ErrorOf(Replace(text, "reads (%0 [a(0 1)", "reads (%0 [a(0 0)")),
             Contains("on device 1 it touches [0, 2)"));
  CHECK_THAT(ErrorOf(Replace(text, "reads (%0 [a(0 1)", "reads (%0 [a(0)")),
             Contains("a bound with 1 values where its axes make 2"));
  CHECK_THAT(ErrorOf(Replace(text, "over [a(0 1)", "over [q(0 1)")), Contains("no mesh axis"));
  CHECK_THAT(ErrorOf(Replace(text, "\"x0\" [a(0 1):a(1 2), 0:8]", "\"x0\" [0:8]")),
             Contains("a box of 1 dimensions for a tensor of 2"));
}

// What cannot be refused within an operation is refused at its beginning.
TEST_CASE("an operation that says what cannot be is refused where it begins") {
  const std::string text = SmallText();
  INFO(text);
  const auto refused = [&](const std::string& op, const std::string& from, const std::string& to,
                           const std::string& reason) {
    const std::string changed = Replace(text, from, to);
    const size_t at = changed.find(op);
    const size_t line = std::count(changed.begin(), changed.begin() + at, '\n') + 1;
    const size_t column = at - changed.rfind('\n', at);
    INFO(from << " becomes " << to);
    CHECK_THAT(ErrorOf(changed),
               Catch::Matchers::StartsWith("state.mlir:" + std::to_string(line) + ":" +
                                           std::to_string(column) + ": error: ") &&
                   Catch::Matchers::Contains(reason));
  };
  refused("yuba.tensor", "[2/a, 8]", "[2/aa, 8]", "[2/aa, 8] uses the axis a twice");
  refused("yuba.tensor", "[2/a, 8]", "[2/a, 8/a]", "[2/a, 8/a] uses the axis a twice");
  refused("yuba.op", "<i0/a>", "<i0/a i1/a>", "i0/a i1/a uses the axis a twice");
  const std::string graph = "yuba.graph";
  refused(graph, "graph mesh a=2", "graph mesh a=4", "size 4, which is no prime");
  refused(graph, "graph mesh a=2", "graph mesh a=2 b=4099", "at most 4096 devices");
  refused(graph, "copies = false", "copies = 0 : i64", "'copies' is missing or of another");
  refused(graph, "flops = 0", "flops = -1", "'flops' is -1");
  refused(graph, "opset = 0", "opset = -1", "'opset' is -1");
  refused(graph, "file_nodes = 0", "file_nodes = 2147483648", "'file_nodes' is 2147483648");
  refused(graph, "memory = 0", "memory = -1", "'memory' is -1");
  refused(graph, "lower_bound = 0", "lower_bound = -1", "'lower_bound' is -1");
  refused(graph, "lower_bound = 0", "lower_bound = 1", "'lower_bound' is 1, expected an integer");
  refused(graph, "cost = array<i64: 0,", "cost = array<i64: -1,", "'cost' has -1");
  refused(graph, "cost = array<i64: 0,", "cost = array<i64: 9223372036854775807,", "'cost' has 92");
  refused(graph, "cost = array<i64: 0,", "cost = array<i64: 0, 0,", "'cost' has four kinds");
  refused(graph, "replayed = false", "replayed = 5", "'replayed' is missing or of another kind");
  refused(graph, "replayed = false", "replayed = false, stopped = \"lunch\"",
          "'stopped' is \"lunch");
  refused(graph, "proof_plain = 0", "proof_plain = -1", "'proof_plain' is -1");
  refused(graph, "proof_order = array<i32>", "proof_order = array<i32: -1>",
          "'proof_order' has -1");
  refused(graph, "proof_prices = array<i64>", "proof_prices = array<i64: 3, 1>", "has the time 3");
  refused(graph, "proof_prices = array<i64>", "proof_prices = array<i64: 1, -1>", "the price -1");
  refused(graph, "proof_messages = array<i64>", "proof_messages = array<i64: 0, -1, 0>", "node -1");
  const auto pinned = [&](const std::string& field, const std::string& words) {
    refused(graph, "replayed = false", "replayed = false, " + field, words);
  };
  pinned("pins = array<i64: 0, 2, 1, 0>", "'pins' ends within a pin");
  pinned("pins = array<i64: -1, 0>", "'pins' has -1 where numbers from 0");
  pinned("pins = array<i64: 0, 1, 2, 0>", "'pins' has 2 where numbers from 0 to 1 are expected");
  pinned("pins = array<i64: 0, 1, 1, 1, 7>", "'pins' has 7 where numbers from 0 to 0 are expected");
  pinned("pins = 5", "'pins' is missing or of another kind");
  pinned("pin_texts = [5]", "'pin_texts' has something that is no text");
  pinned("without_pins = array<i64: 1>", "'without_pins' is no pair");
  refused("yuba.program", "function 0 over", "function 7 over", "no function 7");
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

// A graph of one map: x squared `squares` times.
Compilation SquaresState(int squares) {
  const Affine i = IndexAffine(0);
  ExprPtr body = Read(0, {i});
  for (int n = 0; n < squares; ++n) body = Call(Function::kMul, {body, body});
  ModelBuilder build;
  Compilation state;
  state.model = build.Finish({build.Relu(build.Input({8}))});
  Graph& graph = state.model.graph;
  graph.nodes[0].definition =
      std::make_shared<const Definition>(Define({8}, 1, Reducer::kNone, {{8}}, body));
  return state;
}

TEST_CASE("a body is written with as many terms as it has, and read again") {
  const Compilation state = SquaresState(60);
  const std::string text = StateText(state);
  INFO(text);
  CHECK(text.size() < 30000);
  CHECK_THAT(text, Catch::Matchers::Contains("let = 58 : i64"));
  Compilation read;
  REQUIRE_THAT(ParseState(text, "state.mlir", read).status(), IsOk());
  CheckSameGraph(read.model.graph, state.model.graph);
  CHECK(StateText(read) == text);
  CHECK_THAT(StateText(SquaresState(3)), !Catch::Matchers::Contains("let"));
}

TEST_CASE("tables are written and read again, and refused where they are none") {
  Random random(3);
  Compilation state;
  state.model = RandomTables(random);
  KnowConditions(state.model);
  const std::string text = StateText(state);
  INFO(text);
  Compilation read;
  REQUIRE_THAT(ParseState(text, "state.mlir", read).status(), IsOk());
  CheckSameGraph(read.model.graph, state.model.graph);
  const auto refused = [&](const char* from, const char* to, const char* why) {
    CHECK_THAT(ErrorOf(Replace(text, from, to)), Catch::Matchers::Contains(why));
  };
  refused("table = array<i64: ", "table = array<i64: 1, ", "values instead of");
  refused("table = array<i64: ", "table = array<i64: 4611686018427387904, ", "'table'");
  refused("table_indices = array<i32: ", "table_indices = array<i32: 7, ", "has 7");
  refused("table_indices = array<i32: ", "table_indices = array<i32: -1, ", "has -1");
  refused("table_indices = ", "other_indices = ", "'table_indices' is missing");
}

TEST_CASE("terms that are used before they are written, and bodies too deep, are refused") {
  const std::string text = StateText(SquaresState(60));
  for (const char* number : {"59", "-1", "4611686018427387904"}) {
    CHECK_THAT(ErrorOf(Replace(text, "let = 0 ", std::string("let = ") + number + " ")),
               Catch::Matchers::Contains("does not come before its use"));
  }
  std::string deep = "{let = 0 : i64}";
  for (int n = 0; n < 210; ++n) deep = "{args = [" + deep + "], call = \"neg\"}";
  CHECK_THAT(ErrorOf(Replace(text, "{let = 0 : i64}", deep)),
             Catch::Matchers::Contains("too deep"));
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
