// Gradients through places that integers name and through resizes, as PyTorch has them: of equal
// maxima each gets its share, of a product with a 0 in it the 0 alone, of updates that are
// overwritten none.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::OnnxBuilder;

void SetText(::onnx::NodeProto& node, const std::string& name, const std::string& text) {
  ::onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::STRING);
  attribute->set_s(text);
}

void AddFloats(OnnxBuilder& builder, const std::string& name, const std::vector<int64_t>& dims,
               const std::vector<float>& values) {
  ::onnx::TensorProto* tensor = builder.proto().mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(::onnx::TensorProto::FLOAT);
  for (const int64_t dim : dims) tensor->add_dims(dim);
  for (const float value : values) tensor->add_float_data(value);
}

void AddIndices(OnnxBuilder& builder, const std::string& name, const std::vector<int64_t>& dims,
                const std::vector<int64_t>& values) {
  builder.Integers(name, values);
  ::onnx::GraphProto& graph = *builder.proto().mutable_graph();
  ::onnx::TensorProto* tensor = graph.mutable_initializer(graph.initializer_size() - 1);
  tensor->clear_dims();
  for (const int64_t dim : dims) tensor->add_dims(dim);
}

// What one step of gradient descent at rate 1 makes of the first weight, `from`, where the loss is
// the mean square of y's difference from labels: minus its gradient.
void CheckChange(const OnnxBuilder& builder, const std::string& name,
                 const std::vector<float>& from, const std::vector<int64_t>& label_dims,
                 double label_scale, const std::vector<double>& expected) {
  ImportOptions options;
  options.train = TrainOptions{"sgd", "mse", "", {}};
  options.train->lr = 1.0;
  const auto model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  TensorValue labels;
  labels.type = {ElementType::kF32, label_dims};
  labels.elements.resize(ElementCount(labels.type));
  for (size_t e = 0; e < labels.elements.size(); ++e)
    labels.elements[e].number = label_scale * static_cast<double>((e * 7 + 3) % 11);
  const auto outputs = compiler::RunWhole(*model, {labels});
  REQUIRE_THAT(outputs, IsOk());
  bool found = false;
  for (size_t o = 0; o < outputs->size(); ++o) {
    const Tensor& tensor = model->graph.tensors[model->graph.outputs[o]];
    if (!IsCarried(tensor) || tensor.name != name) continue;
    found = true;
    for (size_t e = 0; e < expected.size(); ++e) {
      INFO(name << " " << e);
      CHECK((*outputs)[o].elements[e].number - static_cast<double>(from[e]) ==
            Approx(expected[e]).margin(1e-5));
    }
  }
  CHECK(found);
}

const std::vector<float> kX = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f,
                               0.7f, 0.8f, 0.9f, 1.0f, 1.1f, 1.2f};
const std::vector<float> kU = {0.4f, 1.1f, 0.0f, 0.4f, 0.2f, 0.5f, 0.7f, 0.3f, 0.0f};

struct ScatterGradient {
  const char* reduction;
  std::vector<double> x, u;  // minus the gradients
};

TEST_CASE("gradients of scatters are PyTorch's") {
  // In row 1 x and both updates are 0.4; in row 2 both updates are 0.
  const ScatterGradient cases[] = {
      {"none",
       {0, 0, 0.18, 0, 0.2616667, 0, -0.07833333, 0.1733333, 0, -0.1666667, 0, -0.085},
       {0, 0, 0, 0.01, 0.35, 0.07, -0.001666665, 0.2183333, 0.1916667}},
      {"add",
       {-0.01833334, 0.3166667, 0.18, -0.1233333, 0.2616667, 0.09166666, -0.07833333, 0.1733333,
        -0.08, -0.1666667, -0.1483333, -0.085},
       {-0.1233333, -0.1483333, -0.08, -0.1233333, 0.3166667, -0.08, -0.01833334, -0.1483333,
        0.09166666}},
      {"mul",
       {0.07233334, 0.07533333, 0.18, 0.01056, 0.2616667, 0, -0.07833333, 0.1733333, 0, -0.1666667,
        0.068585, -0.085},
       {0.01056, 0.068585, 0.069, 0.01056, 0.07533333, 0, 0.01033333, 0.2514783, 0.115}},
      {"max",
       {0, 0.175, 0.18, 0.003333334, 0.2616667, 0.09166666, -0.07833333, 0.1733333, 0.00333334,
        -0.1666667, 0.0425, -0.085},
       {0.003333334, 0.0425, 0, 0.003333334, 0.175, 0, -0.001666665, 0, 0}},
      {"min",
       {0.09833333, 0.175, 0.18, 0.003333334, 0.2616667, 0, -0.07833333, 0.1733333, 0, -0.1666667,
        0, -0.085},
       {0.003333334, 0, 0.1533333, 0.003333334, 0.175, 0, 0, 0.2183333, 0.1916667}}};
  for (const ScatterGradient& expected : cases) {
    INFO(expected.reduction);
    OnnxBuilder builder(18);
    AddFloats(builder, "x", {4, 3}, kX);
    AddFloats(builder, "u", {3, 3}, kU);
    AddIndices(builder, "ids", {3, 3}, {1, 3, 2, 1, 0, -2, 0, -1, 1});
    SetText(builder.Node("ScatterElements", {"x", "ids", "u"}, {"y"}), "reduction",
            expected.reduction);
    builder.Output("y");
    CheckChange(builder, "x", kX, {4, 3}, 0.23, expected.x);
    CheckChange(builder, "u", kU, {4, 3}, 0.23, expected.u);
  }
}

TEST_CASE("the gradient of what is gathered several times adds up") {
  OnnxBuilder builder;
  AddFloats(builder, "x", {4, 3}, kX);
  AddIndices(builder, "ids", {4, 2}, {1, 2, 0, -1, 1, 2, -1, 0});
  builder.Node("GatherND", {"x", "ids"}, {"y"});
  builder.Output("y");
  CheckChange(builder, "x", kX, {4}, 0.23, {0, 0, 1, 0, 0, 0.435, 0, 0, 0, -0.27, 0, 0});
}

TEST_CASE("gradients of resizes are PyTorch's") {
  const std::pair<const char*, std::vector<double>> cases[] = {
      {"linear",
       {0.22985, 0.196, 0.11335, 0.1617812, 0.045, 0.1132187, 0.10665, 0.0215, 0.07265002}},
      {"cubic",
       {0.2360226, 0.2454341, 0.0945921, 0.1794499, 0.01648758, 0.1235825, 0.09277388, 0.006935809,
        0.06472167}}};
  const std::vector<float> x(kX.begin(), kX.begin() + 9);
  for (const auto& [mode, expected] : cases) {
    INFO(mode);
    OnnxBuilder builder;
    AddFloats(builder, "x", {1, 1, 3, 3}, x);
    builder.Integers("sizes", {1, 1, 5, 4});
    SetText(builder.Node("Resize", {"x", "", "", "sizes"}, {"y"}), "mode", mode);
    builder.Output("y");
    CheckChange(builder, "x", x, {1, 1, 5, 4}, 0.2, expected);
  }
}

}  // namespace
}  // namespace yuba::onnx
