// Opaque functions from a model's file to a run, by legal plans at random: whole equals cut, in
// floats and in hash arithmetic; parts of slices are refused by the proof and by the runtime;
// factors stop where a function sees a dimension whole; what GPUs do not compute is refused when a
// program is compiled.
#include "opsemantics/definition/opaque.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "compiler/import/onnx.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/memory/memory.h"
#include "compiler/spmd/recognise.h"
#include "compiler/spmd/spmd.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "opsemantics/base/hash_order.h"
#include "runtime/session.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

constexpr int kPlans = 2;  // at random, of each model and number of devices

struct Compiled {
  Model model;
  program::Program program;
};

// By a legal plan at random, with every proof.
Compiled Compile(const std::string& file, int devices, Random& random,
                 Arithmetic arithmetic = Arithmetic::kFloat,
                 const OperatorLibrary& library = BuiltInLibrary()) {
  onnx::ImportOptions options;
  options.library = &library;
  absl::StatusOr<Model> model = ImportFile(file, options);
  REQUIRE_THAT(model, IsOk());
  Compiled compiled;
  compiled.model = *std::move(model);
  const search::Plan plan = RandomPlan(compiled.model.graph, MeshOf(devices), random);
  compiled.program = MakeSpmdProgram(compiled.model, plan, arithmetic);
  REQUIRE_THAT(CheckMatchesGraph(compiled.model.graph, compiled.program), IsOk());
  REQUIRE_THAT(CheckCoverage(compiled.program), IsOk());
  RecogniseCollectives(compiled.program);
  PlanMemory(compiled.program);
  kernels::KernelChoice choice;
  choice.target.arithmetic = arithmetic;
  REQUIRE_THAT(kernels::AddKernels(compiled.model, choice, compiled.program), IsOk());
  return compiled;
}

// The position of the only node that calls an opaque function.
int OpaqueNode(const Graph& graph) {
  int found = -1;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!IsOpaque(*graph.nodes[n].definition)) continue;
    CHECK(found < 0);
    found = static_cast<int>(n);
  }
  REQUIRE(found >= 0);
  return found;
}

// [output]: its bytes after one step on `x`, of which the elements have `type`. Threads: of each
// device.
std::vector<std::string> Run(const program::Program& message, const TensorData& x, int threads) {
  auto program = runtime::LoadedProgram::FromMessage(message);
  REQUIRE_THAT(program, IsOk());
  runtime::RunOptions options;
  options.threads_per_device = threads;
  auto session = runtime::Session::Open(*program, options);
  REQUIRE_THAT(session, IsOk());
  REQUIRE_THAT((*session)->Set("x", x), IsOk());
  REQUIRE_THAT((*session)->Step(), IsOk());
  std::vector<std::string> outputs;
  for (const program::Port& port : message.outputs())
    outputs.push_back((*session)->Get(port.name()).value().data);
  return outputs;
}

template <typename T>
TensorData Tensor(ElementType type, const std::vector<int64_t>& dims, const std::vector<T>& row) {
  TensorData tensor;
  tensor.type = type;
  tensor.dims = dims;
  tensor.data.assign(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(T));
  return tensor;
}

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// The first k of each row of `length` elements by choosing them one after the other: the greatest
// that is left, of equal ones the first.
template <typename T, typename Above>
void Choose(const std::vector<T>& x, size_t length, size_t k, const Above& above,
            std::vector<T>& values, std::vector<int64_t>& places) {
  for (size_t row = 0; row < x.size(); row += length) {
    std::vector<bool> taken(length, false);
    for (size_t c = 0; c < k; ++c) {
      size_t best = length;
      for (size_t i = 0; i < length; ++i) {
        if (taken[i]) continue;
        if (best == length || above(x[row + i], x[row + best])) best = i;
      }
      taken[best] = true;
      values.push_back(x[row + best]);
      places.push_back(static_cast<int64_t>(best));
    }
  }
}

bool AboveFloat(float a, float b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

// A file that chooses the k greatest of each row of x.
std::string TopModel(int64_t rows, int64_t length, int64_t k) {
  OnnxBuilder builder;
  builder.Input("x", {rows, length});
  builder.Integers("k", {k});
  builder.Node("TopK", {"x", "k"}, {"values", "places"});
  builder.Output("values");
  builder.Output("places");
  return builder.Save();
}

TEST_CASE("the greatest of 50,000 elements, on any number of devices and threads") {
  constexpr size_t kRows = 6, kLength = 50000, kFirst = 9;
  const std::string model = TopModel(kRows, kLength, kFirst);
  Random random(1);
  std::vector<float> x(kRows * kLength);
  for (float& element : x) element = static_cast<float>(random() % 20000) - 10000;  // ties
  x[17] = x[40000] = std::numeric_limits<float>::quiet_NaN();
  x[kLength + 3] = std::numeric_limits<float>::infinity();
  std::fill(x.begin() + 2 * kLength, x.begin() + 3 * kLength, -0.0f);
  x[2 * kLength + 4] = 0.0f;  // no greater than the others
  std::vector<float> values;
  std::vector<int64_t> places;
  Choose(x, kLength, kFirst, AboveFloat, values, places);
  const TensorData input = Tensor(ElementType::kF32, {kRows, kLength}, x);
  for (int devices : {1, 2, 3, 5, 8}) {
    INFO(devices << " devices");
    for (int plan = 0; plan < kPlans; ++plan) {
      const Compiled compiled = Compile(model, devices, random);
      const std::vector<std::string> outputs = Run(compiled.program, input, 1 + plan);
      CHECK(outputs[0] == BytesOf(values));
      CHECK(outputs[1] == BytesOf(places));
    }
  }
}

TEST_CASE("in hash arithmetic whole equals cut too, by the order of hashes") {
  constexpr size_t kRows = 7, kLength = 300, kFirst = 5;
  const std::string model = TopModel(kRows, kLength, kFirst);
  Random random(2);
  std::vector<uint64_t> x(kRows * kLength), values;
  for (uint64_t& element : x) element = (uint64_t{random()} << 32) + random();
  for (size_t i = 3; i < x.size(); i += 7) x[i] = x[i - 3];
  std::vector<int64_t> places;
  Choose(
      x, kLength, kFirst, [](uint64_t a, uint64_t b) { return HashRank(a) > HashRank(b); }, values,
      places);
  const TensorData input = Tensor(ElementType::kI64, {kRows, kLength}, x);
  for (int devices : {1, 2, 3, 5, 8}) {
    INFO(devices << " devices");
    for (int plan = 0; plan < kPlans; ++plan) {
      const Compiled compiled = Compile(model, devices, random, Arithmetic::kHash);
      const std::vector<std::string> outputs = Run(compiled.program, input, 1 + plan);
      CHECK(outputs[0] == BytesOf(values));
      CHECK(outputs[1] == BytesOf(places));
    }
  }
}

TEST_CASE("rows of one element, one row, and no element chosen") {
  Random random(4);
  const std::vector<float> x = {3, -1, 3, 2};
  for (const auto& [rows, length, k] :
       {std::tuple<int64_t, int64_t, int64_t>{4, 1, 1}, {1, 4, 4}, {1, 4, 1}, {2, 2, 2}}) {
    INFO(rows << " rows of " << length);
    std::vector<float> values;
    std::vector<int64_t> places;
    Choose(x, length, k, AboveFloat, values, places);
    const TensorData input = Tensor(ElementType::kF32, {rows, length}, x);
    for (int devices : {1, 2, 3, 8}) {
      const Compiled compiled = Compile(TopModel(rows, length, k), devices, random);
      const std::vector<std::string> outputs = Run(compiled.program, input, 1);
      CHECK(outputs[0] == BytesOf(values));
      CHECK(outputs[1] == BytesOf(places));
    }
  }
}

TEST_CASE("a user's description may sort along any dimension, in place") {
  OperatorLibrary library = BuiltInLibrary();
  const char* columns =
      "opaque argsort(x[a, n, s]; descending: bool = 0) -> at[n, a, s]: i64 cuts a, s flops n";
  REQUIRE_THAT(library.Add("mine.tdl", columns, true), IsOk());
  OnnxBuilder builder;
  builder.Input("x", {3, 7, 5});
  builder.Node("argsort", {"x"}, {"places"}).set_domain("example.org");
  builder.Output("places");
  const std::string file = builder.Save();
  Random random(8);
  std::vector<float> x(105);
  for (float& element : x) element = static_cast<float>(random() % 4);
  std::vector<int64_t> expected(105);
  for (size_t a = 0; a < 3; ++a) {
    for (size_t s = 0; s < 5; ++s) {
      std::vector<float> column, values;
      std::vector<int64_t> places;
      for (size_t n = 0; n < 7; ++n) column.push_back(x[(a * 7 + n) * 5 + s]);
      Choose(column, 7, 7, std::less<float>(), values, places);
      for (size_t n = 0; n < 7; ++n) expected[(n * 3 + a) * 5 + s] = places[n];
    }
  }
  const TensorData input = Tensor(ElementType::kF32, {3, 7, 5}, x);
  for (int devices : {1, 2, 3, 5, 8}) {
    for (int plan = 0; plan < 2 * kPlans; ++plan) {
      const Compiled compiled = Compile(file, devices, random, Arithmetic::kFloat, library);
      CHECK(Run(compiled.program, input, 1 + plan % 3)[0] == BytesOf(expected));
    }
  }
}

TEST_CASE("a dimension that a function sees whole keeps other operators' factors out") {
  // x is 6 heads of 8 to the product and one row of 48 to the sort.
  OnnxBuilder builder;
  builder.Input("x", {10, 48});
  builder.Integers("heads", {10, 6, 8});
  builder.Weight("w", {6, 1});
  builder.Node("Reshape", {"x", "heads"}, {"h"});
  builder.Node("Mul", {"h", "w"}, {"scaled"});
  builder.Node("argsort", {"x"}, {"places"}).set_domain("example.org");
  builder.Output("scaled");
  builder.Output("places");
  const std::string model = builder.Save();
  Random random(3);
  std::vector<float> x(480), values;
  for (float& element : x) element = static_cast<float>(random() % 50);
  std::vector<int64_t> places;
  Choose(x, 48, 48, std::less<float>(), values, places);
  const TensorData input = Tensor(ElementType::kF32, {10, 48}, x);
  for (int devices : {1, 3, 8}) {
    INFO(devices << " devices");
    const Compiled compiled = Compile(model, devices, random);
    const Graph& graph = compiled.model.graph;
    CHECK(SignatureOf(*graph.nodes[OpaqueNode(graph)].definition).arguments[0].extents ==
          std::vector<int64_t>{48});
    CHECK(Run(compiled.program, input, 1)[1] == BytesOf(places));
  }
}

TEST_CASE("views around an opaque function change nothing of what it sees") {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Integers("axis", {1});
  builder.Node("Unsqueeze", {"x", "axis"}, {"wide"});  // [4, 1, 6]
  builder.Node("argsort", {"wide"}, {"order"}).set_domain("example.org");
  SetInts(builder.Node("Transpose", {"order"}, {"places"}), "perm", {2, 1, 0});
  builder.Output("places");
  const std::string model = builder.Save();
  Random random(9);
  std::vector<float> x(24), values;
  for (float& element : x) element = static_cast<float>(random() % 5);
  std::vector<int64_t> order, expected(24);
  Choose(x, 6, 6, std::less<float>(), values, order);
  for (size_t i = 0; i < 24; ++i) expected[i % 6 * 4 + i / 6] = order[i];
  for (int devices : {1, 2, 3}) {
    const Compiled compiled = Compile(model, devices, random);
    CHECK(Run(compiled.program, Tensor(ElementType::kF32, {4, 6}, x), 1)[0] == BytesOf(expected));
  }
}

// The kernel that calls the opaque function.
program::Kernel& OpaqueKernelOf(program::Program& program) {
  for (program::Instruction& instruction : *program.mutable_instructions()) {
    if (!instruction.has_kernel()) continue;
    program::Kernel& kernel = *instruction.mutable_kernel();
    if (program.functions(kernel.function()).has_opaque()) return kernel;
  }
  FAIL("no kernel calls an opaque function");
  return *program.mutable_instructions(0)->mutable_kernel();
}

TEST_CASE("a program that sorts parts of rows is refused by the proof and by the runtime") {
  Random random(5);
  const Compiled compiled = Compile(TopModel(4, 6, 2), 2, random);
  const Graph& graph = compiled.model.graph;
  const Definition& definition = *graph.nodes[OpaqueNode(graph)].definition;
  for (int index = 0; index < static_cast<int>(definition.indices.size()); ++index) {
    if (MayBeCut(definition, index)) continue;
    INFO(definition.indices[index].name);
    program::Program program = compiled.program;
    program::Range& range = *OpaqueKernelOf(program).mutable_indices(index);
    range.mutable_end()->clear_axes();
    range.mutable_end()->clear_values();
    range.mutable_end()->add_values(3);
    CHECK_THAT(CheckMatchesGraph(graph, program), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                           "which an opaque function sees whole"));
    CHECK_THAT(runtime::LoadedProgram::FromMessage(program),
               StatusIs(absl::StatusCode::kInvalidArgument, "slices are whole along it"));
  }
}

TEST_CASE("programs that call no known function, or call one wrongly, are refused") {
  Random random(6);
  const Compiled compiled = Compile(TopModel(4, 6, 2), 2, random);
  const auto refused = [&](const std::string& message, const auto& spoil) {
    program::Program program = compiled.program;
    spoil(program, *program.mutable_functions(OpaqueKernelOf(program).function()));
    INFO(message);
    CHECK_THAT(runtime::LoadedProgram::FromMessage(program),
               StatusIs(absl::StatusCode::kInvalidArgument, message));
  };
  using Program = program::Program;
  using Function = program::Function;
  refused("no opaque function is called 'sort_all'; there are: argsort",
          [](Program&, Function& f) { f.mutable_opaque()->set_name("sort_all"); });
  refused("needs one of", [](Program&, Function& f) { f.set_symbol("k0"); });
  refused("needs one of", [](Program&, Function& f) { f.clear_opaque(); });
  refused("takes one operand and the attribute",
          [](Program&, Function& f) { f.mutable_opaque()->clear_attributes(); });
  refused("is not there or named twice", [](Program&, Function& f) {
    f.mutable_opaque()->mutable_arguments(0)->set_indices(1, 0);
  });
  refused("is not there or named twice", [](Program&, Function& f) {
    f.mutable_opaque()->mutable_arguments(0)->set_indices(1, 9);
  });
  refused("its result has the reduction index",
          [](Program&, Function& f) { f.mutable_opaque()->mutable_result()->set_indices(1, 2); });
  refused("indices for 2 dimensions",
          [](Program&, Function& f) { f.mutable_opaque()->mutable_arguments(0)->add_indices(1); });
  refused("an index runs along no dimension",
          [](Program&, Function& f) { f.mutable_opaque()->clear_arguments(); });
  refused("which is not there",
          [](Program&, Function& f) { f.mutable_opaque()->mutable_arguments(0)->set_operand(1); });
  refused("its result is i64", [](Program& p, Function&) {
    for (program::Buffer& buffer : *p.mutable_buffers())
      if (buffer.type() == program::I64) buffer.set_type(program::F64);
  });
  refused("slices are whole", [](Program&, Function& f) {
    for (program::FunctionIndex& index : *f.mutable_indices()) index.set_extent(7);
  });
}

TEST_CASE("GPUs sort; where they cannot, compiling names the node, its operator and what to do") {
  Random random(7);
  kernels::KernelChoice choice;
  choice.target = kernels::KernelTarget(*kernels::FindTarget("cuda"));
  choice.code = false;
  Compiled compiled = Compile(TopModel(4, 6, 2), 2, random);
  for (program::Function& function : *compiled.program.mutable_functions()) {
    function.clear_opaque();
    function.clear_symbol();
    function.clear_splits();
  }
  REQUIRE_THAT(kernels::AddKernels(compiled.model, choice, compiled.program), IsOk());
  const program::Kernel& kernel = OpaqueKernelOf(compiled.program);
  CHECK(compiled.program.functions(kernel.function()).opaque().name() == "argsort");
  // More than 32 bits count.
  compiled = Compile(TopModel(1, int64_t{1} << 32, 2), 2, random);
  const absl::Status status = kernels::AddKernels(compiled.model, choice, compiled.program);
  const int node = OpaqueNode(compiled.model.graph);
  for (const std::string& part :
       {compiled.model.graph.nodes[node].name, std::string("from node_values"),
        std::string("calls the opaque function 'argsort', and on GPUs it sorts rows of at most "
                    "4294967295 elements, not 4294967296"),
        std::string("--target host")}) {
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, part));
  }
}

TEST_CASE("k comes from the attribute before opset 10, and must fit") {
  const auto import = [](int64_t opset, int64_t k) {
    OnnxBuilder builder(opset);
    builder.Input("x", {4, 6});
    if (opset < 10) {
      SetInt(builder.Node("TopK", {"x"}, {"values", "places"}), "k", k);
    } else {
      builder.Integers("k", {k});
      builder.Node("TopK", {"x", "k"}, {"values", "places"});
    }
    builder.Output("values");
    builder.Output("places");
    return ImportFile(builder.Save());
  };
  for (int64_t opset : {6, 9, 10, 11, 17}) {
    INFO("opset " << opset);
    const auto model = import(opset, 2);
    REQUIRE_THAT(model, IsOk());
    CHECK(WholeDims(model->graph.tensors[model->graph.outputs[0]]) == std::vector<int64_t>{4, 2});
    CHECK(model->graph.tensors[model->graph.outputs[1]].type.type == ElementType::kI64);
    CHECK_THAT(import(opset, 7), StatusIs(absl::StatusCode::kInvalidArgument,
                                          "its k is 7, but dimension 1 has 6 elements"));
  }
}

}  // namespace
}  // namespace yuba::compiler
