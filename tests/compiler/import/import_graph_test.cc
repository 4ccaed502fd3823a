// What the importer makes of small graphs: simplifications, unification, names, hashes.
#include <catch2/catch.hpp>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using Factors = std::vector<std::vector<int64_t>>;

compiler::Model Import(const compiler::OnnxBuilder& builder, const ImportOptions& options = {}) {
  absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  return *std::move(model);
}

TensorValue Counting(const Tensor& tensor) {
  TensorValue value;
  value.type = TensorType{tensor.type.type, WholeDims(tensor)};
  for (int64_t i = 0; i < ElementCount(value.type); ++i) {
    Scalar scalar;
    scalar.number = static_cast<double>(i);
    value.elements.push_back(scalar);
  }
  return value;
}

// One output, for an input that counts 0, 1, 2, ...
std::vector<double> Run(const compiler::Model& model, int output = 0) {
  const absl::StatusOr<std::vector<TensorValue>> outputs =
      compiler::RunWhole(model, {Counting(model.graph.tensors[model.graph.inputs[0]])});
  REQUIRE_THAT(outputs, IsOk());
  std::vector<double> numbers;
  for (const Scalar& element : (*outputs)[output].elements) numbers.push_back(element.number);
  return numbers;
}

const Tensor& Output(const compiler::Model& model) {
  return model.graph.tensors[model.graph.outputs[0]];
}

TEST_CASE("aligned reshapes and transposes leave one node and its factors") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Integers("split", {4, 2, 3});
  builder.Node("Reshape", {"x", "split"}, {"a"});
  compiler::SetInts(builder.Node("Transpose", {"a"}, {"b"}), "perm", {1, 0, 2});
  builder.Node("Neg", {"b"}, {"y"});
  builder.Output("y");
  const compiler::Model model = Import(builder);
  REQUIRE(model.graph.nodes.size() == 1);
  CHECK(model.graph.tensors[model.graph.inputs[0]].dims == Factors{{4}, {2, 3}});
  CHECK(Run(model)[3] == -6);   // y[0, 1, 0] = -x[1, 0]
  CHECK(Run(model)[12] == -3);  // y[1, 0, 0] = -x[0, 3]
}

// A gather of rows by the constant `ids`, or where it is empty by an input.
compiler::Model Gather(const std::vector<int64_t>& ids) {
  compiler::OnnxBuilder builder;
  builder.Input("x", {6, 3});
  if (ids.empty()) {
    builder.Input("ids", {4}, ::onnx::TensorProto::INT64);
  } else {
    builder.Integers("ids", ids);
  }
  builder.Node("Gather", {"x", "ids"}, {"y"});
  builder.Output("y");
  return Import(builder);
}

TEST_CASE("index tables of the file are known to box analysis") {
  const compiler::Model known = Gather({-1, 0, 3, 3});
  const Definition& definition = *known.graph.nodes.at(0).definition;
  REQUIRE(definition.data_where.size() == 1);
  REQUIRE(definition.data_where[0].table != nullptr);
  CHECK(definition.data_where[0].table->values == std::vector<int64_t>{5, 0, 3, 3});
  CHECK(ToString(definition).find("{5, 0, 3, 3}") != std::string::npos);
  CHECK(known.graph_hash != Gather({-1, 0, 3, 2}).graph_hash);
  const auto table_of = [](const compiler::Model& model) {
    return model.graph.nodes.at(0).definition->data_where.at(0).table;
  };
  CHECK(table_of(Gather({})) == nullptr);
}

TEST_CASE("a reshape whose blocks do not nest moves elements") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {6, 4});
  builder.Integers("shape", {8, 3});
  builder.Node("Reshape", {"x", "shape"}, {"y"});
  builder.Output("y");
  const compiler::Model model = Import(builder);
  REQUIRE(model.graph.nodes.size() == 1);
  CHECK(WholeDims(Output(model)) == std::vector<int64_t>{8, 3});
  for (int i = 0; i < 24; ++i) CHECK(Run(model)[i] == i);
}

// Channels in 2 groups of 6, then in 3 groups of 4: what no chain of factors can say.
TEST_CASE("factors that do not nest meet in a reshape") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {1, 12, 2, 2});
  builder.Weight("f", {12, 6, 1, 1});
  builder.Weight("g", {12, 4, 1, 1});
  compiler::SetInt(builder.Node("Conv", {"x", "f"}, {"a"}), "group", 2);
  compiler::SetInt(builder.Node("Conv", {"a", "g"}, {"y"}), "group", 3);
  builder.Output("y");
  const compiler::Model model = Import(builder);
  REQUIRE(model.notes.size() == 1);
  CHECK_THAT(model.notes[0], Catch::Matchers::Contains("reshape"));
  CHECK(model.graph.nodes.size() == 3);
  // The same sums, by hand.
  std::vector<double> middle(48), expected(48);
  const auto f = [](int i) { return static_cast<double>(0.1f * static_cast<float>(i + 1)); };
  for (int o = 0; o < 12; ++o) {
    for (int c = 0; c < 6; ++c)
      for (int p = 0; p < 4; ++p) middle[o * 4 + p] += f(o * 6 + c) * ((o / 6 * 6 + c) * 4 + p);
  }
  for (int o = 0; o < 12; ++o) {
    for (int c = 0; c < 4; ++c) {
      for (int p = 0; p < 4; ++p)
        expected[o * 4 + p] += f(o * 4 + c) * middle[(o / 4 * 4 + c) * 4 + p];
    }
  }
  const std::vector<double> actual = Run(model);
  for (int i = 0; i < 48; ++i) CHECK(actual[i] == Approx(expected[i]).epsilon(1e-5));
}

TEST_CASE("a reshape holds only the factors between common ends") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {108});
  for (const auto& [name, shape] :
       {std::make_pair("sixes", Factors::value_type{6, 6, 3}), {"nines", {4, 9, 3}}}) {
    const std::string split = name;
    builder.Integers(split, shape);
    builder.Node("Reshape", {"x", split}, {split + " apart"});
    compiler::SetInts(builder.Node("Transpose", {split + " apart"}, {split + " turned"}), "perm",
                      {2, 1, 0});
    builder.Output(split + " turned");
  }
  const compiler::Model model = Import(builder);
  int views = 0;
  for (const Node& node : model.graph.nodes) {
    if (node.definition->reducer != Reducer::kPick) continue;
    ++views;
    CHECK(node.definition->indices.size() == 5);  // 6 and 6, 4 and 9, and one of 3 for both
    CHECK(node.definition->operands[0].dims.size() == 3);
  }
  CHECK(views == 1);
  const std::vector<double> sixes = Run(model, 0), nines = Run(model, 1);
  for (int i = 0; i < 108; ++i) {
    CHECK(sixes[(i % 3 * 6 + i / 3 % 6) * 6 + i / 18] == i);
    CHECK(nines[(i % 3 * 9 + i / 3 % 9) * 4 + i / 27] == i);
  }
}

TEST_CASE("unequal concats share the greatest common divisor of their parts") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {2, 4});
  builder.Weight("w", {4, 6});
  builder.Node("MatMul", {"x", "w"}, {"a"});
  compiler::SetInt(builder.Node("Concat", {"x", "a"}, {"y"}), "axis", 1);
  builder.Output("y");
  const compiler::Model model = Import(builder);
  CHECK(Output(model).dims == Factors{{2}, {5, 2}});
  CHECK(model.notes.empty());
}

TEST_CASE("chains of maps become one, constants become literals") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {3});
  builder.Weight("tenth", {});
  builder.Node("Mul", {"x", "tenth"}, {"a"});
  builder.Node("Exp", {"a"}, {"b"});
  builder.Node("Identity", {"b"}, {"c"});
  builder.Node("Neg", {"c"}, {"y"});
  builder.Node("Sqrt", {"a"}, {"unused"});
  builder.Output("y");
  const compiler::Model model = Import(builder);
  CHECK(model.graph.nodes.size() == 1);
  CHECK(model.graph.tensors.size() == 2);
  CHECK(Run(model)[2] == Approx(-std::exp(0.2)).epsilon(1e-6));
}

TEST_CASE("what is read twice stays") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Node("Exp", {"x"}, {"a"});
  compiler::SetInts(builder.Node("ReduceMax", {"a"}, {"b"}), "axes", {1});
  builder.Node("Sub", {"a", "b"}, {"y"});
  builder.Output("y");
  CHECK(Import(builder).graph.nodes.size() == 3);
}

TEST_CASE("outputs that are inputs, shared or constant are tensors of their own") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {3});
  builder.Integers("k", {7});
  builder.Node("Identity", {"x"}, {"same"});
  builder.Node("Neg", {"x"}, {"y"});
  builder.Node("Identity", {"y"}, {"again"});
  builder.Node("Identity", {"k"}, {"seven"});
  for (const char* name : {"same", "y", "again", "seven"}) builder.Output(name);
  const compiler::Model model = Import(builder);
  REQUIRE(model.graph.outputs.size() == 4);
  const char* const names[] = {"same", "y", "again", "seven"};
  for (int i = 0; i < 4; ++i) CHECK(model.graph.tensors[model.graph.outputs[i]].name == names[i]);
  CHECK(Run(model) == std::vector<double>{0, 1, 2});
}

TEST_CASE("what is repeated no time is empty") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {3});
  builder.Integers("none", {0});
  builder.Node("Tile", {"x", "none"}, {"empty"});
  builder.Node("Neg", {"x"}, {"y"});
  builder.Output("empty");
  builder.Output("y");
  const compiler::Model model = Import(builder);
  CHECK(WholeDims(model.graph.tensors[model.graph.outputs[0]]) == std::vector<int64_t>{0});
  CHECK(Run(model, 0).empty());
  CHECK(Run(model, 1) == std::vector<double>{0, -1, -2});
}

TEST_CASE("functions of the model are put in place") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {3});
  ::onnx::FunctionProto* function = builder.proto().add_functions();
  function->set_name("Soften");
  function->set_domain("local");
  function->add_input("a");
  function->add_output("b");
  function->add_attribute("slope");
  ::onnx::NodeProto* inner = function->add_node();
  inner->set_op_type("LeakyRelu");
  inner->add_input("t");
  inner->add_output("b");
  inner->add_attribute()->set_name("alpha");
  inner->mutable_attribute(0)->set_ref_attr_name("slope");
  ::onnx::NodeProto* before = function->add_node();
  before->set_op_type("Neg");
  before->add_input("a");
  before->add_output("t");
  for (const char* step : {"x:a", "a:y"}) {
    ::onnx::NodeProto& call = builder.Node("Soften", {std::string(1, step[0])}, {step + 2});
    call.set_domain("local");
    compiler::SetFloat(call, "slope", 0.5);
  }
  builder.Output("y");
  CHECK(Run(Import(builder)) == std::vector<double>{0, 0.5, 1});
}

TEST_CASE("an operator of another domain is translated by a description of its name") {
  OperatorLibrary library = compiler::BuiltInLibrary();
  REQUIRE_THAT(library.Add("user.tdl",
                           "op Spread(x[n]; by, from.., scale = 1.0) -> y[by, n]\n"
                           "  let least = size(from..)\n"
                           "  y[i, j] = x[j] * scale + least + i\n"),
               IsOk());
  compiler::OnnxBuilder builder;
  builder.Input("x", {3});
  ::onnx::NodeProto& node = builder.Node("Spread", {"x"}, {"y"});
  node.set_domain("com.example");
  compiler::SetInt(node, "by", 2);
  compiler::SetInts(node, "from", {5, 2});
  compiler::SetFloat(node, "scale", 0.5);
  builder.Output("y");
  ImportOptions options;
  options.library = &library;
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  CHECK(Run(*model) == std::vector<double>{10, 10.5, 11, 11, 11.5, 12});
}

// Without any float initializer the file came without its weights.
TEST_CASE("inputs after the first are parameters where the file has no weights") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Input("w", {3, 4});
  builder.Input("ids", {2}, ::onnx::TensorProto::INT64);
  builder.Node("MatMul", {"x", "w"}, {"a"});
  builder.Node("Gather", {"a", "ids"}, {"y"});
  builder.Output("y");
  const compiler::Model model = Import(builder);
  CHECK(model.graph.inputs.size() == 2);
  REQUIRE(model.values.size() == 1);
  CHECK(model.graph.tensors[model.values.begin()->first].name == "w");
  CHECK(model.values.begin()->second.kind == compiler::InitialValue::kMissing);
  CHECK(model.file_inputs == std::vector<std::string>{"x", "w", "ids"});
}

// They decide a shape, and stay weights for whoever else reads them.
TEST_CASE("small floats that are stored are known when planning") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {1, 1, 2, 3});
  builder.Weight("scales", {4});
  float* scales =
      builder.proto().mutable_graph()->mutable_initializer(0)->mutable_float_data()->mutable_data();
  for (int d = 0; d < 4; ++d) scales[d] = d < 2 ? 1 : 2;
  builder.Node("Resize", {"x", "", "scales"}, {"a"});
  builder.Node("Mul", {"scales", "scales"}, {"b"});
  builder.Output("a");
  builder.Output("b");
  const compiler::Model model = Import(builder);
  CHECK(WholeDims(model.graph.tensors[model.graph.outputs[0]]) == std::vector<int64_t>{1, 1, 4, 6});
  REQUIRE(model.values.size() == 1);
  CHECK(model.graph.tensors[model.values.begin()->first].kind == TensorKind::kParameter);
}

TEST_CASE("an input that decides a shape can be bound") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {6});
  builder.Input("shape", {2}, ::onnx::TensorProto::INT64);
  builder.Node("Reshape", {"x", "shape"}, {"a"});
  builder.Node("Neg", {"a"}, {"y"});
  builder.Output("y");
  CHECK_THAT(compiler::ImportFile(builder.Save()),
             StatusIs(absl::StatusCode::kInvalidArgument,
                      "'shape' must be integers that are known when planning"));
  ImportOptions options;
  const int64_t shape[] = {3, -1};
  options.bind["shape"] =
      TensorData{ElementType::kI64, {2}, std::string(reinterpret_cast<const char*>(shape), 16)};
  CHECK(WholeDims(Output(Import(builder, options))) == std::vector<int64_t>{3, 2});
}

compiler::OnnxBuilder TwoLayers(const std::string& prefix, bool swapped, int64_t width) {
  compiler::OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Weight(prefix + "w", {3, width});
  builder.Weight(prefix + "v", {3, width});
  for (const char* layer : {swapped ? "v" : "w", swapped ? "w" : "v"})
    builder.Node("MatMul", {"x", prefix + layer}, {prefix + layer + "x"});
  builder.Node("Add", {prefix + "wx", prefix + "vx"}, {prefix + "y"});
  builder.Output(prefix + "y");
  return builder;
}

TEST_CASE("the hash is of the structure: no names, no order of the file") {
  const std::string hash = Import(TwoLayers("a", false, 4)).graph_hash;
  CHECK(hash.size() == 32);
  CHECK(Import(TwoLayers("b", false, 4)).graph_hash == hash);
  CHECK(Import(TwoLayers("a", true, 4)).graph_hash == hash);
  CHECK(Import(TwoLayers("a", false, 5)).graph_hash != hash);
}

// Dimensions of a name or, where that is empty, of a size.
void SetDims(::onnx::ValueInfoProto& value, const std::vector<std::string>& names, int64_t size) {
  ::onnx::TensorShapeProto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.clear_dim();
  for (const std::string& name : names) {
    if (name.empty())
      shape.add_dim()->set_dim_value(size);
    else
      shape.add_dim()->set_dim_param(name);
  }
}

TEST_CASE("dimensions of inputs and outputs keep the file's names, which are no structure") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {4, 3});
  builder.Node("Neg", {"x"}, {"y"});
  compiler::SetInts(builder.Node("Transpose", {"x"}, {"z"}), "perm", {1, 0});
  builder.Output("y");
  builder.Output("z");
  const std::string hash = Import(builder).graph_hash;
  ::onnx::GraphProto& graph = *builder.proto().mutable_graph();
  SetDims(*graph.mutable_input(0), {"rows", ""}, 3);
  SetDims(*graph.mutable_output(0), {"rows", "columns"}, 3);
  SetDims(*graph.mutable_output(1), {"rows", "others"}, 3);  // its first are the columns: not so
  ImportOptions options;
  options.dims["rows"] = 4;
  const compiler::Model model = Import(builder, options);
  const auto names = [&](TensorId id) { return model.graph.tensors[id].dim_names; };
  CHECK(names(model.graph.inputs[0]) == std::vector<std::string>{"rows", ""});
  CHECK(names(model.graph.outputs[0]) == std::vector<std::string>{"rows", "columns"});
  CHECK(names(model.graph.outputs[1]) == std::vector<std::string>{"", "others"});
  CHECK(model.graph_hash == hash);
}

}  // namespace
}  // namespace yuba::onnx
