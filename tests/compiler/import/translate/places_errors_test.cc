// Gathers, scatters and resizes that do not fit: every message says what is wrong.
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"

namespace yuba::onnx {
namespace {

using Catch::Matchers::Contains;
using compiler::OnnxBuilder;

void SetText(::onnx::NodeProto& node, const std::string& name, const std::string& text) {
  ::onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::STRING);
  attribute->set_s(text);
}

std::string MessageOf(const std::function<void(OnnxBuilder&)>& add) {
  OnnxBuilder builder(18);
  builder.Input("x", {4, 3});
  add(builder);
  builder.Output("y");
  const auto model = compiler::ImportFile(builder.Save());
  return model.ok() ? "imported" : std::string(model.status().message());
}

// An operator of x, indices of these dims and updates of those.
std::string Scatter(const std::string& op, const std::vector<int64_t>& ids,
                    const std::vector<int64_t>& updates, const std::string& reduction = "none") {
  return MessageOf([&](OnnxBuilder& b) {
    b.Input("ids", ids, ::onnx::TensorProto::INT64);
    b.Input("u", updates);
    SetText(b.Node(op, {"x", "ids", "u"}, {"y"}), "reduction", reduction);
  });
}

std::string Gather(const std::vector<int64_t>& ids, int64_t batch) {
  return MessageOf([&](OnnxBuilder& b) {
    b.Input("ids", ids, ::onnx::TensorProto::INT64);
    compiler::SetInt(b.Node("GatherND", {"x", "ids"}, {"y"}), "batch_dims", batch);
  });
}

TEST_CASE("places that do not fit what they are places of") {
  CHECK(Gather({5, 2}, 0) == "imported");
  CHECK_THAT(Gather({5, 3}, 0), Contains("last dimension of its indices [5, 3] must be 1 to 2"));
  CHECK_THAT(Gather({5, 1}, 1), Contains("[4, 3] and [5, 1] differ in dimension 0"));
  CHECK_THAT(Gather({4, 1}, 2), Contains("its batch_dims 2 must be less than the ranks"));
  CHECK(Scatter("ScatterND", {5, 1}, {5, 3}) == "imported");
  CHECK_THAT(Scatter("ScatterND", {5, 1}, {5, 2}), Contains("its updates [5, 2] must be [5, 3]"));
  CHECK_THAT(Scatter("ScatterND", {5, 0}, {5, 4, 3}), Contains("must be 1 to 2"));
  CHECK_THAT(Scatter("ScatterND", {5, 1}, {5, 3}, "mean"),
             Contains("its reduction 'mean' is none of none, add, mul, max and min"));
  CHECK(Scatter("ScatterElements", {9, 2}, {9, 2}) == "imported");
  CHECK_THAT(Scatter("ScatterElements", {9, 2}, {9, 3}), Contains("must be of one shape"));
  CHECK_THAT(Scatter("ScatterElements", {2, 4}, {2, 4}),
             Contains("dimension 1 of its indices [2, 4] is longer than that of [4, 3]"));
}

TEST_CASE("a stored index that is none is an error of the model") {
  for (const int64_t index : {4, -5}) {
    const std::string message = MessageOf([&](OnnxBuilder& b) {
      b.Integers("row", {index});
      b.Input("u", {3});
      b.Node("ScatterND", {"x", "row", "u"}, {"y"});
    });
    CHECK_THAT(message, Contains(std::to_string(index)) && Contains("no index into 4 elements"));
    const std::string constants = MessageOf([&](OnnxBuilder& b) {
      b.Integers("of", {7, 8, 9, 6});
      b.Integers("row", {index});
      b.Integers("u", {5});
      b.Node("ScatterElements", {"of", "row", "u"}, {"y"});
    });
    CHECK_THAT(constants, Contains("index " + std::to_string(index) + " is outside dimension 0"));
  }
}

TEST_CASE("updates of another type than what they replace are refused, constants too") {
  for (const bool constants : {false, true}) {
    INFO(constants);
    const auto of = [&](const std::string& op, int updates, int ids) {
      return MessageOf([&](OnnxBuilder& b) {
        b.Integers("of", {7, 8, 9, 6});
        b.Integers("row", {1});
        b.Integers("u", {5});
        ::onnx::GraphProto& graph = *b.proto().mutable_graph();
        const auto retype = [&](int at, int type) {
          ::onnx::TensorProto& tensor = *graph.mutable_initializer(at);
          if (type == ::onnx::TensorProto::INT64) return;
          tensor.clear_int64_data();
          tensor.set_data_type(type);
          tensor.add_float_data(1);
        };
        retype(2, updates);
        retype(1, ids);
        if (!constants) {
          b.Input("given", {1}, updates);
          b.Input("at", {1}, ids);
        }
        SetText(b.Node(op, {"of", constants ? "row" : "at", constants ? "u" : "given"}, {"y"}),
                "reduction", "none");
      });
    };
    for (const std::string op : {"ScatterND", "ScatterElements"}) {
      INFO(op);
      const int i64 = ::onnx::TensorProto::INT64, f32 = ::onnx::TensorProto::FLOAT;
      if (op == "ScatterElements") CHECK(of(op, i64, i64) == "imported");
      CHECK_THAT(of(op, f32, i64), Contains("its updates are f32, and its operand is i64"));
      CHECK_THAT(of(op, i64, f32), Contains("its indices are f32, and must be i64 or i32"));
    }
  }
}

std::string Resize(const std::vector<std::pair<std::string, std::string>>& texts,
                   const std::vector<int64_t>& sizes, int type = ::onnx::TensorProto::FLOAT) {
  return MessageOf([&](OnnxBuilder& b) {
    b.Input("z", {4, 3}, type);
    b.Integers("sizes", sizes);
    ::onnx::NodeProto& node = b.Node("Resize", {"z", "", "", "sizes"}, {"y"});
    for (const auto& [name, text] : texts) SetText(node, name, text);
  });
}

TEST_CASE("resizes that nobody knows or that do not fit") {
  CHECK(Resize({{"mode", "cubic"}}, {5, 6}) == "imported");
  CHECK_THAT(Resize({{"mode", "area"}}, {5, 6}), Contains("its mode 'area' is not known"));
  CHECK_THAT(Resize({{"coordinate_transformation_mode", "half"}}, {5, 6}),
             Contains("its coordinate_transformation_mode 'half' is not known"));
  CHECK_THAT(Resize({{"nearest_mode", "up"}}, {5, 6}), Contains("nearest_mode 'up' is not known"));
  CHECK_THAT(Resize({{"keep_aspect_ratio_policy", "crop"}}, {5, 6}),
             Contains("keep_aspect_ratio_policy 'crop' is not known"));
  CHECK_THAT(Resize({{"mode", "linear"}}, {5, 6}, ::onnx::TensorProto::INT64),
             Contains("its mode 'linear' of i64 is not supported"));
  CHECK_THAT(Resize({}, {5}), Contains("it has 1 sizes and no scales for 2 dimensions"));
  CHECK_THAT(Resize({}, {5, -6}), Contains("one of its sizes is -6"));
  CHECK_THAT(Resize({{"coordinate_transformation_mode", "tf_crop_and_resize"}}, {5, 6}),
             Contains("need a roi"));
}

// Cropped along one dimension of 4 elements, from `begin` to `end` of it, to so many elements.
std::string Crop(float begin, float end, int64_t to) {
  return MessageOf([&](OnnxBuilder& b) {
    b.Input("z", {4});
    b.Weight("roi", {2});
    auto& roi = *b.proto().mutable_graph()->mutable_initializer(0)->mutable_float_data();
    roi.Set(0, begin);
    roi.Set(1, end);
    b.Integers("sizes", {to});
    ::onnx::NodeProto& node = b.Node("Resize", {"z", "roi", "", "sizes"}, {"y"});
    SetText(node, "mode", "linear");
    SetText(node, "coordinate_transformation_mode", "tf_crop_and_resize");
  });
}

TEST_CASE("crops that begin or end too far outside are refused before anything is counted") {
  CHECK(Crop(-0.5f, 1.5f, 9) == "imported");
  CHECK(Crop(5e3f, 1e4f, 9) == "imported");  // all of it outside
  CHECK_THAT(Crop(5e3f, 1e4f, 2000000000), Contains("too large a fraction"));
  CHECK_THAT(Crop(0.1f, 3.4e18f, 7), Contains("too large"));
  CHECK_THAT(Crop(3.4e18f, 3.4e18f, 7), Contains("too large"));
}

}  // namespace
}  // namespace yuba::onnx
