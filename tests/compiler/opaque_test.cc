// Opaque functions from a model's file to a run: whole equals cut, in floats and in hash
// arithmetic; what may not be cut is not, by the checker, by the proofs and by the runtime; factors
// stop where a function sees a dimension whole; GPUs are refused when a program is compiled.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "compiler/phases.h"
#include "compiler/verify/matches_graph.h"
#include "opsemantics/base/hash_order.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/language/library.h"
#include "runtime/session.h"
#include "search/check/check.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

const OperatorLibrary& Library() {
  static const auto* const kLibrary = new OperatorLibrary(OperatorLibrary::BuiltIn().value());
  return *kLibrary;
}

Compilation Request(const std::string& model, int devices, Arithmetic arithmetic) {
  Compilation compilation;
  compilation.request.model_file = model;
  compilation.request.import.library = &Library();
  compilation.request.search.mesh = MeshOf(devices);
  compilation.request.kernels.target.arithmetic = arithmetic;
  return compilation;
}

Compilation Compile(const std::string& model, int devices,
                    Arithmetic arithmetic = Arithmetic::kFloat) {
  Compilation compilation = Request(model, devices, arithmetic);
  REQUIRE_THAT(RunPhases(PhaseOptions(), compilation), IsOk());
  return compilation;
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
std::vector<std::string> Run(const Compilation& compilation, const TensorData& x, int threads) {
  auto program = runtime::LoadedProgram::FromMessage(compilation.program);
  REQUIRE_THAT(program, IsOk());
  runtime::RunOptions options;
  options.threads_per_device = threads;
  auto session = runtime::Session::Open(*program, options);
  REQUIRE_THAT(session, IsOk());
  REQUIRE_THAT((*session)->Set("x", x), IsOk());
  REQUIRE_THAT((*session)->Step(), IsOk());
  std::vector<std::string> outputs;
  for (const program::Port& port : compilation.program.outputs())
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
  std::mt19937 random(1);
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
    const Compilation compilation = Compile(model, devices);
    for (int threads : {1, 3}) {
      const std::vector<std::string> outputs = Run(compilation, input, threads);
      CHECK(outputs[0] == BytesOf(values));
      CHECK(outputs[1] == BytesOf(places));
    }
  }
}

TEST_CASE("in hash arithmetic whole equals cut too, by the order of hashes") {
  constexpr size_t kRows = 7, kLength = 300, kFirst = 5;
  const std::string model = TopModel(kRows, kLength, kFirst);
  std::mt19937_64 random(2);
  std::vector<uint64_t> x(kRows * kLength), values;
  for (uint64_t& element : x) element = random();
  for (size_t i = 3; i < x.size(); i += 7) x[i] = x[i - 3];
  std::vector<int64_t> places;
  Choose(x, kLength, kFirst, [](uint64_t a, uint64_t b) { return HashRank(a) > HashRank(b); },
         values, places);
  const TensorData input = Tensor(ElementType::kI64, {kRows, kLength}, x);
  for (int devices : {1, 2, 3, 5, 8}) {
    INFO(devices << " devices");
    const Compilation compilation = Compile(model, devices, Arithmetic::kHash);
    const std::vector<std::string> outputs = Run(compilation, input, 2);
    CHECK(outputs[0] == BytesOf(values));
    CHECK(outputs[1] == BytesOf(places));
  }
}

TEST_CASE("rows of one element, one row, and no element chosen") {
  const float x[] = {3, -1, 3, 2};
  for (const auto& [rows, length, k] : {std::tuple<int64_t, int64_t, int64_t>{4, 1, 1},
                                        {1, 4, 4},
                                        {1, 4, 1},
                                        {2, 2, 2}}) {
    INFO(rows << " rows of " << length);
    std::vector<float> values;
    std::vector<int64_t> places;
    Choose(std::vector<float>(x, x + 4), length, k, AboveFloat, values, places);
    const TensorData input =
        Tensor(ElementType::kF32, {rows, length}, std::vector<float>(x, x + 4));
    for (int devices : {1, 2, 3, 8}) {
      const std::vector<std::string> outputs =
          Run(Compile(TopModel(rows, length, k), devices), input, 1);
      CHECK(outputs[0] == BytesOf(values));
      CHECK(outputs[1] == BytesOf(places));
    }
  }
}

TEST_CASE("a dimension that a function sees whole keeps other operators' factors out") {
  // x is 6 heads of 8 to the product and one row of 48 to the sort.
  OnnxBuilder builder;
  builder.Input("x", {10, 48});
  builder.Integers("heads", {10, 6, 8});
  builder.Integers("k", {3});
  builder.Weight("w", {6, 1});
  builder.Node("Reshape", {"x", "heads"}, {"h"});
  builder.Node("Mul", {"h", "w"}, {"scaled"});
  builder.Node("TopK", {"x", "k"}, {"values", "places"});
  builder.Output("scaled");
  builder.Output("places");
  const std::string model = builder.Save();
  std::mt19937 random(3);
  std::vector<float> x(480), values;
  for (float& element : x) element = static_cast<float>(random() % 50);
  std::vector<int64_t> places;
  Choose(x, 48, 3, AboveFloat, values, places);
  const TensorData input = Tensor(ElementType::kF32, {10, 48}, x);
  for (int devices : {1, 2, 3, 5, 8}) {
    INFO(devices << " devices");
    const Compilation compilation = Compile(model, devices);
    const Node& node = compilation.model.graph.nodes[OpaqueNode(compilation.model.graph)];
    CHECK(SignatureOf(*node.definition).arguments[0].extents == std::vector<int64_t>{48});
    CHECK(Run(compilation, input, 1)[1] == BytesOf(places));
  }
}

TEST_CASE("a dump with opaque functions is read back as it was") {
  const std::string dir = TemporaryFile("opaque_dump");
  Compilation whole = Request(TopModel(4, 6, 2), 4, Arithmetic::kFloat);
  PhaseOptions options;
  options.dump_dir = dir;
  REQUIRE_THAT(RunPhases(options, whole), IsOk());
  for (const char* phase : {"order", "attach", "memory", "emit"}) {
    INFO(phase);
    Compilation again = Request("", 4, Arithmetic::kFloat);
    options.from = phase;
    REQUIRE_THAT(RunPhases(options, again), IsOk());
    REQUIRE(again.program.functions_size() == whole.program.functions_size());
    for (int f = 0; f < again.program.functions_size(); ++f) {
      CHECK(again.program.functions(f).SerializeAsString() ==
            whole.program.functions(f).SerializeAsString());
    }
  }
}

// The kernel that calls the opaque function.
program::Kernel& OpaqueKernelOf(program::Program& program) {
  for (program::Instruction& instruction : *program.mutable_stages(0)->mutable_instructions()) {
    if (!instruction.has_kernel()) continue;
    program::Kernel& kernel = *instruction.mutable_kernel();
    if (program.functions(kernel.function()).has_opaque()) return kernel;
  }
  FAIL("no kernel calls an opaque function");
  return *program.mutable_stages(0)->mutable_instructions(0)->mutable_kernel();
}

TEST_CASE("a plan that sorts parts of rows is refused") {
  Compilation compilation = Compile(TopModel(4, 6, 2), 2);
  const Graph& graph = compilation.model.graph;
  REQUIRE_THAT(search::CheckPlan(graph, compilation.plan), IsOk());
  const int node = OpaqueNode(graph);
  const Definition& definition = *graph.nodes[node].definition;
  for (size_t index = 0; index < definition.indices.size(); ++index) {
    if (MayBeCut(definition, static_cast<int>(index))) continue;
    INFO(definition.indices[index].name);
    search::Plan plan = compilation.plan;
    for (AxisList& axes : plan.nodes[node].axes) axes.clear();
    plan.nodes[node].axes[index] = {0};
    CHECK_FALSE(search::CheckPlan(graph, plan).ok());
  }
}

TEST_CASE("a program that sorts parts of rows is refused by the proof and by the runtime") {
  const Compilation compilation = Compile(TopModel(4, 6, 2), 2);
  const Definition& definition =
      *compilation.model.graph.nodes[OpaqueNode(compilation.model.graph)].definition;
  for (int index = 0; index < static_cast<int>(definition.indices.size()); ++index) {
    if (MayBeCut(definition, index)) continue;
    INFO(definition.indices[index].name);
    program::Program program = compilation.program;
    program::Range& range = *OpaqueKernelOf(program).mutable_indices(index);
    range.mutable_end()->clear_axes();
    range.mutable_end()->clear_values();
    range.mutable_end()->add_values(3);
    CHECK_THAT(CheckMatchesGraph(compilation.model.graph, program),
               StatusIs(absl::StatusCode::kFailedPrecondition, "which an opaque function sees whole"));
    CHECK_THAT(runtime::LoadedProgram::FromMessage(program),
               StatusIs(absl::StatusCode::kInvalidArgument, "slices are whole along it"));
  }
}

TEST_CASE("programs that call no known function, or call one wrongly, are refused") {
  const Compilation compilation = Compile(TopModel(4, 6, 2), 2);
  const auto refused = [&](const std::string& message, const auto& spoil) {
    program::Program program = compilation.program;
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
  refused("indices for 2 dimensions", [](Program&, Function& f) {
    f.mutable_opaque()->mutable_arguments(0)->add_indices(1);
  });
  refused("an index runs along no dimension",
          [](Program&, Function& f) { f.mutable_opaque()->clear_arguments(); });
  refused("which is not there",
          [](Program&, Function& f) { f.mutable_opaque()->mutable_arguments(0)->set_operand(1); });
  refused("its result is i64", [](Program& p, Function&) {
    p.mutable_stages(0)
        ->mutable_buffers(OpaqueKernelOf(p).result().buffer())
        ->set_type(program::F64);
  });
  refused("slices are whole", [](Program&, Function& f) {
    for (program::FunctionIndex& index : *f.mutable_indices()) index.set_extent(7);
  });
}

TEST_CASE("compiling for GPUs names the node, its operator and what to do") {
  Compilation compilation = Request(TopModel(4, 6, 2), 2, Arithmetic::kFloat);
  compilation.request.kernels.target.cuda = true;
  compilation.request.kernels.target.cpu = "sm_80";
  const absl::Status status = RunPhases(PhaseOptions(), compilation);
  CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "node_values"));
  CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                              "calls the opaque function 'argsort', which runs on processors only"));
  CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "--target host"));
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
    return onnx::ImportOnnx(builder.Save(), Request("", 1, Arithmetic::kFloat).request.import);
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
