// Operators that only the user describes, under names of their own: planned, partitioned and run
// like any other, and library routines attach to their structure.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "compiler/phases.h"
#include "opsemantics/language/library.h"
#include "runtime/session.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

// A product of matrices with the operands' and the result's dimensions the wrong way round, and a
// convolution over one dimension with channels last.
constexpr char kDescriptions[] = R"(
op mixer(left[u, w], right[v, w]) -> out[v, u]
  out[beta, alpha] = sum(gamma: w) right[beta, gamma] * left[alpha, gamma]

op smear(signal[t, b, c], kernel[k, c, d]) -> out[t - k + 3, b, d]
  out[p, n, o] = sum(u: k, e: c) kernel[u, e, o] * (signal[p + u - 1, n, e] else 0)
)";

struct Result {
  int64_t library_calls = 0;
  TensorData output;
};

Result Run(const std::string& model, const OperatorLibrary& library, int devices,
           bool use_library) {
  compiler::Compilation compilation;
  compilation.request.model_file = model;
  compilation.request.import.library = &library;
  compilation.request.search.mesh = MeshOf(devices);
  compilation.request.kernels.library = use_library;
  const absl::Status compiled = compiler::RunPhases(compiler::PhaseOptions(), compilation);
  REQUIRE_THAT(compiled, IsOk());
  auto program = runtime::LoadedProgram::FromMessage(std::move(compilation.program));
  REQUIRE_THAT(program, IsOk());
  std::unique_ptr<runtime::Session> session =
      runtime::Session::Open(*program, runtime::RunOptions()).value();
  REQUIRE_THAT(session->Randomize(7), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  return {session->statistics().library_calls, session->Get("y").value()};
}

void ExpectLibraryCalls(compiler::OnnxBuilder& builder) {
  OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  REQUIRE_THAT(library.Add("mine.tdl", kDescriptions), IsOk());
  const std::string model = builder.Save();
  for (int devices : {1, 2, 3, 8}) {
    INFO(devices << " devices");
    const Result with = Run(model, library, devices, true);
    const Result without = Run(model, library, devices, false);
    CHECK(with.library_calls >= devices);
    CHECK(without.library_calls == 0);
    REQUIRE(with.output.data.size() == without.output.data.size());
    const auto* a = reinterpret_cast<const float*>(with.output.data.data());
    const auto* b = reinterpret_cast<const float*>(without.output.data.data());
    float most = 0;
    for (size_t i = 0; i < with.output.data.size() / 4; ++i) {
      REQUIRE(a[i] == Approx(b[i]).margin(1e-4));
      most = std::max(most, std::abs(a[i]));
    }
    CHECK(most > 0);
  }
}

TEST_CASE("a user's product of matrices gets the library's") {
  compiler::OnnxBuilder builder;
  builder.Input("a", {24, 40});
  builder.Input("b", {33, 40});
  builder.Weight("bias", {33, 24});
  builder.Node("mixer", {"a", "b"}, {"z"}).set_domain("example.org");
  builder.Node("Add", {"z", "bias"}, {"y"});
  builder.Output("y");
  ExpectLibraryCalls(builder);
}

TEST_CASE("a user's convolution over one dimension gets the library's") {
  compiler::OnnxBuilder builder;
  builder.Input("a", {21, 4, 6});
  builder.Weight("kernel", {3, 6, 10});
  builder.Node("smear", {"a", "kernel"}, {"z"}).set_domain("example.org");
  builder.Node("Relu", {"z"}, {"y"});
  builder.Output("y");
  ExpectLibraryCalls(builder);
}

std::string ErrorOf(const compiler::OnnxBuilder& builder, const OperatorLibrary& library) {
  ImportOptions options;
  options.library = &library;
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(model.status().message());
}

TEST_CASE("an attribute that the description lacks is an error that names those it has") {
  OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  REQUIRE_THAT(
      library.Add("mine.tdl", "op scaled(x[n]; factor = 1) -> y[n]\n  y[i] = x[i] * factor\n"),
      IsOk());
  compiler::OnnxBuilder builder;
  builder.proto().add_opset_import()->set_domain("example.org");
  builder.proto().mutable_opset_import(1)->set_version(3);
  builder.Input("x", {4});
  ::onnx::NodeProto& node = builder.Node("scaled", {"x"}, {"y"});
  node.set_domain("example.org");
  builder.Output("y");
  compiler::SetInt(node, "faktor", 3);
  const std::string message = ErrorOf(builder, library);
  INFO(message);
  CHECK(message.find("node_y") != std::string::npos);
  CHECK(message.find("version 3 of example.org") != std::string::npos);
  CHECK(message.find("'faktor'") != std::string::npos);
  CHECK(message.find("it has factor, besides the extents n") != std::string::npos);
}

// Per channel, as ONNX says it: along the dimension `axis`.
constexpr char kScaledAlong[] = R"(
op ScaledAlong(x[a.., c, b..], scale[c]; axis = 1) -> y[a.., c, b..]
  y[i.., k, j..] = x[i.., k, j..] * scale[k]
)";

absl::StatusOr<compiler::Model> ScaledAlong(const std::vector<int64_t>& dims, int64_t scales,
                                            absl::optional<int64_t> axis) {
  OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  REQUIRE_THAT(library.Add("mine.tdl", kScaledAlong), IsOk());
  compiler::OnnxBuilder builder;
  builder.Input("x", dims);
  builder.Weight("scale", {scales});
  ::onnx::NodeProto& node = builder.Node("ScaledAlong", {"x", "scale"}, {"y"});
  if (axis.has_value()) compiler::SetInt(node, "axis", *axis);
  builder.Output("y");
  ImportOptions options;
  options.library = &library;
  return compiler::ImportFile(builder.Save(), options);
}

// Which element of the scale 0.1, 0.2, ... each element of x[2, 2, 2] is multiplied with.
std::vector<int> ScaleOfEach(absl::optional<int64_t> axis) {
  const absl::StatusOr<compiler::Model> model = ScaledAlong({2, 2, 2}, 2, axis);
  REQUIRE_THAT(model, IsOk());
  TensorValue ones;
  ones.type = TensorType{ElementType::kF32, {2, 2, 2}};
  ones.elements.resize(8);
  for (Scalar& element : ones.elements) element.number = 1;
  const auto outputs = compiler::RunWhole(*model, {ones});
  REQUIRE_THAT(outputs, IsOk());
  std::vector<int> scales;
  for (const Scalar& element : outputs->at(0).elements)
    scales.push_back(static_cast<int>(std::lround(element.number * 10)));
  return scales;
}

TEST_CASE("the attribute axis says where between two packs a dimension is") {
  CHECK(ScaleOfEach(0) == std::vector<int>{1, 1, 1, 1, 2, 2, 2, 2});
  CHECK(ScaleOfEach(1) == std::vector<int>{1, 1, 2, 2, 1, 1, 2, 2});
  CHECK(ScaleOfEach(2) == std::vector<int>{1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(ScaleOfEach(-1) == ScaleOfEach(2));
  CHECK(ScaleOfEach(absl::nullopt) == ScaleOfEach(1));
  CHECK_THAT(std::string(ScaledAlong({3, 4, 5}, 5, 4).status().message()),
             Catch::Matchers::Contains("axis 4 is outside a tensor of 3 dimensions"));
  CHECK_THAT(std::string(ScaledAlong({3, 4, 5}, 5, 1).status().message()),
             Catch::Matchers::Contains("scale"));
}

TEST_CASE("an attribute that is a text chooses the description by its name") {
  const auto build = [](const std::string& activation) {
    compiler::OnnxBuilder builder;
    builder.Input("x", {4});
    ::onnx::NodeProto& node = builder.Node("Fused", {"x"}, {"y"});
    node.set_domain("example.org");
    ::onnx::AttributeProto* attribute = node.add_attribute();
    attribute->set_name("activation");
    attribute->set_type(::onnx::AttributeProto::STRING);
    attribute->set_s(activation);
    builder.Output("y");
    return builder;
  };
  OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  REQUIRE_THAT(library.Add("mine.tdl",
                           "op Fused(x[n]) -> y[n]\n  y[i] = x[i]\n"
                           "op Fused_Relu(x[n]) -> y[n]\n  y[i] = max(x[i], 0)\n"),
               IsOk());
  ImportOptions options;
  options.library = &library;
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(build("Relu").Save(), options);
  REQUIRE_THAT(model, IsOk());
  CHECK(ToString(*model->graph.nodes.at(0).definition).find("max") != std::string::npos);
  CHECK_THAT(ErrorOf(build("Tanh"), library),
             Catch::Matchers::Contains("attribute 'activation' is the text 'Tanh'") &&
                 Catch::Matchers::Contains("by the name Fused_Tanh"));
}

TEST_CASE("an operator that is not described is named with its own domain's version") {
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  compiler::OnnxBuilder builder;
  builder.proto().add_opset_import()->set_domain("example.org");
  builder.proto().mutable_opset_import(1)->set_version(3);
  builder.Input("x", {4});
  builder.Node("scaled", {"x"}, {"z"}).set_domain("example.org");
  builder.Node("scaled", {"z"}, {"y"}).set_domain("example.net");
  builder.Output("y");
  const std::string message = ErrorOf(builder, library);
  INFO(message);
  CHECK(message.find("example.org.scaled (version 3 of example.org)") != std::string::npos);
  CHECK(message.find("(the model names no version of example.net)") != std::string::npos);
}

TEST_CASE("a description under the name of a known operator takes its place") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Node("Relu", {"x"}, {"y"});
  builder.Output("y");
  OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  const auto body = [&] {
    ImportOptions options;
    options.library = &library;
    const compiler::Model model = compiler::ImportFile(builder.Save(), options).value();
    return ToString(*model.graph.nodes[0].definition);
  };
  CHECK(body().find("max(") != std::string::npos);
  REQUIRE_THAT(library.Add("mine.tdl", "op Relu(x[s..]) -> y[s..]\n  y[i..] = x[i..] * 3"), IsOk());
  CHECK(body().find("* 3") != std::string::npos);
}

}  // namespace
}  // namespace yuba::onnx
