// Which random numbers a model draws: by the structure of its graph, the seed and the step, and by
// nothing else.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/philox.h"
#include "opsemantics/base/random_state.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::OnnxBuilder;
using compiler::SetFloat;
using compiler::SetInts;
using Doubles = std::vector<double>;

compiler::Model Import(const OnnxBuilder& builder, bool factors = true) {
  ImportOptions options;
  options.factors = factors;
  absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  return *std::move(model);
}

TensorId Named(const compiler::Model& model, const std::string& name) {
  const auto& tensors = model.graph.tensors;
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  REQUIRE(found != tensors.end());
  return static_cast<TensorId>(found - tensors.begin());
}

void SetScalar(compiler::Model& model, const std::string& name, int64_t value) {
  model.values[Named(model, name)].data = std::make_shared<const std::string>(
      compiler::BytesFromValue(compiler::IntegerValue({}, {value})));
}

// All outputs, for inputs that are 1 everywhere, in step `step`.
std::vector<Doubles> Run(compiler::Model model, int64_t seed = 0, int64_t step = 0) {
  SetScalar(model, kSeedName, seed);
  SetScalar(model, kStepName, step);
  std::vector<TensorValue> inputs;
  for (const TensorId id : model.graph.inputs) {
    const Tensor& tensor = model.graph.tensors[id];
    inputs.push_back({{tensor.type.type, WholeDims(tensor)}, {}});
    inputs.back().elements.assign(ElementCount(tensor.type), Scalar{1.0});
  }
  const auto outputs = compiler::RunWhole(model, inputs);
  REQUIRE_THAT(outputs, IsOk());
  std::vector<Doubles> numbers;
  for (const TensorValue& output : *outputs) {
    numbers.emplace_back();
    for (const Scalar& element : output.elements) numbers.back().push_back(element.number);
  }
  return numbers;
}

Doubles Uniform(int64_t stream, int64_t count, int64_t seed = 0, int64_t step = 0) {
  Doubles numbers;
  for (int64_t e = 0; e < count; ++e)
    numbers.push_back(UniformOf(Philox((stream << 32) + seed, step, e)));
  return numbers;
}

void AddUniform(OnnxBuilder& builder, const std::string& name, const std::vector<int64_t>& shape) {
  SetInts(builder.Node("RandomUniform", {}, {name}), "shape", shape);
}

// Two uses that differ in nothing but their place, and one that reads one of them.
OnnxBuilder TwoUses(bool exchanged, const std::string& prefix) {
  OnnxBuilder builder;
  const std::string a = prefix + "a", b = prefix + "b", y = prefix + "y", z = prefix + "z";
  AddUniform(builder, exchanged ? b : a, {4, 6});
  AddUniform(builder, exchanged ? a : b, {4, 6});
  builder.Node("Neg", {a}, {y});
  builder.Node("Neg", {b}, {z});
  builder.Output(y);
  builder.Output(z);
  return builder;
}

TEST_CASE("equal uses at different places draw different numbers, as the place says") {
  const std::vector<Doubles> drawn = Run(Import(TwoUses(false, "")));
  for (size_t stream : {0, 1}) {
    Doubles expected = Uniform(static_cast<int64_t>(stream), 24);
    for (double& number : expected) number = -number;
    CHECK(drawn[stream] == expected);
  }
}

TEST_CASE("names and the order of the file decide nothing") {
  const compiler::Model model = Import(TwoUses(false, ""));
  for (const bool exchanged : {false, true}) {
    for (const char* prefix : {"", "zz_", "A"}) {
      const compiler::Model other = Import(TwoUses(exchanged, prefix));
      CHECK(Run(other) == Run(model));
      CHECK(other.graph_hash == model.graph_hash);
    }
  }
}

TEST_CASE("a seed and a step are other numbers, and the same again") {
  const compiler::Model model = Import(TwoUses(false, ""));
  CHECK(Run(model, 7, 3) == Run(model, 7, 3));
  std::vector<Doubles> seen;
  for (const int64_t seed : {0, 1, 7}) {
    for (const int64_t step : {0, 1, 2}) {
      for (const Doubles& drawn : Run(model, seed, step)) {
        CHECK(std::count(seen.begin(), seen.end(), drawn) == 0);
        seen.push_back(drawn);
      }
    }
  }
  Doubles expected = Uniform(1, 24, 7, 3);
  for (double& number : expected) number = -number;
  CHECK(Run(model, 7, 3)[1] == expected);
}

TEST_CASE("a node at the end of the graph counts the steps") {
  const compiler::Model model = Import(TwoUses(false, ""));
  const Tensor& step = model.graph.tensors[Named(model, kStepName)];
  CHECK(IsCarried(step));
  CHECK(step.producer == static_cast<NodeId>(model.graph.nodes.size()) - 1);
  CHECK(ToString(*model.graph.nodes.back().definition) == "step[] = x0[] + 1");
  CHECK(model.graph.outputs.size() == 2);  // of the file
  OnnxBuilder none;
  none.Input("x", {4});
  none.Node("Neg", {"x"}, {"y"});
  none.Output("y");
  CHECK(Import(none).graph.tensors.size() == 2);
}

// A use between a reshape to (4 6) and the readers of 24: with factors and without them its index
// is written otherwise, and other maps are composed.
TEST_CASE("neither factors nor the composition of maps change a number") {
  OnnxBuilder builder;
  builder.Input("x", {8, 24});
  builder.Integers("heads", {8, 4, 6});
  builder.Integers("flat", {8, 24});
  builder.Integers("other", {12, 16});
  builder.Node("RandomUniformLike", {"x"}, {"n"});
  builder.Node("Reshape", {"n", "heads"}, {"a"});
  SetInts(builder.Node("Transpose", {"a"}, {"b"}), "perm", {1, 0, 2});
  builder.Node("RandomUniformLike", {"b"}, {"m"});
  builder.Node("Add", {"b", "m"}, {"c"});
  SetInts(builder.Node("Transpose", {"c"}, {"d"}), "perm", {1, 0, 2});
  builder.Node("Reshape", {"d", "flat"}, {"e"});
  builder.Node("Sub", {"e", "n"}, {"y"});
  builder.Node("Reshape", {"e", "other"}, {"z"});
  builder.Output("y");
  builder.Output("z");
  const compiler::Model with = Import(builder), without = Import(builder, false);
  CHECK(with.graph_hash != without.graph_hash);
  const std::vector<Doubles> drawn = Run(with, 3, 1), flat = Run(without, 3, 1);
  // y[i, (j k)] = (n[i, (j k)] + m[j, i, k]) - n[i, (j k)], which in doubles is m up to rounding.
  const Doubles n = Uniform(0, 192, 3, 1), m = Uniform(1, 192, 3, 1);
  for (int i = 0; i < 8; ++i) {
    for (int jk = 0; jk < 24; ++jk) {
      const double first = n[i * 24 + jk], second = m[(jk / 6 * 8 + i) * 6 + jk % 6];
      CHECK(drawn[0][i * 24 + jk] == Approx(second).margin(1e-6));
      CHECK(drawn[1][i * 24 + jk] == Approx(first + second).margin(1e-6));
      for (int output : {0, 1})  // what is stored between maps is rounded
        CHECK(flat[output][i * 24 + jk] == Approx(drawn[output][i * 24 + jk]).margin(1e-6));
    }
  }
}

OnnxBuilder Dropouts(float ratio, const std::vector<int64_t>& dims) {
  OnnxBuilder builder;
  builder.Input("x", dims);
  ::onnx::TensorProto& on = *builder.proto().mutable_graph()->add_initializer();
  on.set_name("on");
  on.set_data_type(::onnx::TensorProto::BOOL);
  on.add_int32_data(1);
  ::onnx::TensorProto& rate = *builder.proto().mutable_graph()->add_initializer();
  rate.set_name("rate");
  rate.set_data_type(::onnx::TensorProto::FLOAT);
  rate.add_float_data(ratio);
  builder.Node("Dropout", {"x", "rate", "on"}, {"y", "kept"});
  builder.Node("Dropout", {"x", "rate", "on"}, {"z"});
  for (const char* output : {"y", "kept", "z"}) builder.Output(output);
  return builder;
}

TEST_CASE("dropout keeps its rate and the mean, and says what it keeps") {
  constexpr int64_t kCount = 100000;
  for (const float ratio : {0.1f, 0.5f, 0.75f}) {
    const compiler::Model model = Import(Dropouts(ratio, {100, 1000}));
    const std::vector<Doubles> drawn = Run(model);
    double mean = 0, both = 0;
    int64_t kept = 0;
    for (int64_t e = 0; e < kCount; ++e) {
      mean += drawn[0][e] / kCount;
      kept += drawn[0][e] != 0;
      both += drawn[0][e] != 0 && drawn[2][e] != 0;
    }
    const double rate = 1 - static_cast<double>(ratio);
    CHECK(static_cast<double>(kept) / kCount == Approx(rate).margin(0.005));
    CHECK(both / kCount == Approx(rate * rate).margin(0.005));  // two masks of their own
    CHECK(mean == Approx(1).margin(0.02));
  }
}

TEST_CASE("the mask of a dropout is drawn again by its readers, and not stored") {
  const compiler::Model model = Import(Dropouts(0.5f, {6, 10}));
  CHECK(model.graph.nodes.size() == 4);  // y, kept, z and the count of steps
  for (const Tensor& tensor : model.graph.tensors)
    CHECK((tensor.output || tensor.kind != TensorKind::kActivation));
}

TEST_CASE("a rate that a number is compared with leaves dimensions their factors") {
  OnnxBuilder builder = Dropouts(0.5f, {8, 24});
  builder.Integers("heads", {8, 4, 6});
  builder.Node("Reshape", {"z", "heads"}, {"h"});
  builder.Output("h");
  const compiler::Model model = Import(builder);
  CHECK(model.graph.tensors[Named(model, "y")].dims ==
        std::vector<std::vector<int64_t>>{{8}, {4, 6}});
}

TEST_CASE("normal numbers have their mean and their variance") {
  OnnxBuilder builder;
  ::onnx::NodeProto& node = builder.Node("RandomNormal", {}, {"y"});
  SetInts(node, "shape", {100, 1000});
  SetFloat(node, "mean", 3);
  SetFloat(node, "scale", 2);
  builder.Output("y");
  double mean = 0, square = 0, fourth = 0;
  const std::vector<Doubles> drawn = Run(Import(builder));
  for (const double y : drawn[0]) {
    const double x = (y - 3) / 2;
    mean += x / 1e5;
    square += x * x / 1e5;
    fourth += x * x * x * x / 1e5;
  }
  CHECK(mean == Approx(0).margin(0.01));
  CHECK(square == Approx(1).margin(0.02));
  CHECK(fourth == Approx(3).margin(0.1));
}

TEST_CASE("a seed of a node's own tells it apart") {
  std::map<float, Doubles> drawn;
  for (const float seed : {0.0f, 1.0f, 2.5f}) {
    OnnxBuilder builder;
    ::onnx::NodeProto& node = builder.Node("RandomUniform", {}, {"y"});
    SetInts(node, "shape", {8});
    SetFloat(node, "seed", seed);
    builder.Output("y");
    drawn[seed] = Run(Import(builder))[0];
  }
  CHECK(drawn[0] == Uniform(0, 8));
  CHECK(drawn[1] == Uniform(0, 8, 0, int64_t{0x3f800000} << 32));
  CHECK(drawn[2.5f] != drawn[1]);
}

TEST_CASE("equal layers have equal definitions: streams are values") {
  OnnxBuilder builder = Dropouts(0.5f, {6, 10});
  const compiler::Model model = Import(builder);
  CHECK(ToString(*model.graph.nodes[0].definition) == ToString(*model.graph.nodes[2].definition));
}

TEST_CASE("a value with the name of the seed is refused where numbers are drawn") {
  for (const char* name : {kSeedName, kStepName}) {
    OnnxBuilder builder;
    builder.Input(name, {4});
    builder.Node("RandomUniformLike", {name}, {"y"});
    builder.Output("y");
    const auto model = compiler::ImportFile(builder.Save(), {});
    CHECK_THAT(model, StatusIs(absl::StatusCode::kInvalidArgument,
                               absl::StrCat("calls a value '", name, "'")));
  }
}

}  // namespace
}  // namespace yuba::onnx
