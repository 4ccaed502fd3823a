#include "tools/zoo/graph_builder.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "tools/version.h"

namespace yuba::zoo {
namespace {

constexpr int64_t kOpset = 18, kIrVersion = 8;  // what exporters write today

::onnx::TensorProto::DataType OnnxType(ElementType type) {
  YUBA_CHECK(type == ElementType::kF32 || type == ElementType::kI64);
  return type == ElementType::kF32 ? ::onnx::TensorProto::FLOAT : ::onnx::TensorProto::INT64;
}

void SetType(ElementType type, const Dims& dims, ::onnx::ValueInfoProto& info) {
  ::onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(OnnxType(type));
  ::onnx::TensorShapeProto& shape = *tensor.mutable_shape();
  for (const int64_t dim : dims) shape.add_dim()->set_dim_value(dim);
}

// Sets the attribute's value and its type.
struct SetValue {
  ::onnx::AttributeProto& proto;

  void operator()(int64_t integer) const {
    proto.set_i(integer);
    proto.set_type(::onnx::AttributeProto::INT);
  }
  void operator()(float number) const {
    proto.set_f(number);
    proto.set_type(::onnx::AttributeProto::FLOAT);
  }
  void operator()(const Dims& integers) const {
    for (const int64_t integer : integers) proto.add_ints(integer);
    proto.set_type(::onnx::AttributeProto::INTS);
  }
  void operator()(const std::string& text) const {
    proto.set_s(text);
    proto.set_type(::onnx::AttributeProto::STRING);
  }
};

void Add(const Attribute& attribute, ::onnx::NodeProto& node) {
  ::onnx::AttributeProto& proto = *node.add_attribute();
  proto.set_name(attribute.name);
  std::visit(SetValue{proto}, attribute.value);
}

void SetTensor(::onnx::TensorProto tensor, ::onnx::NodeProto& node) {
  ::onnx::AttributeProto& proto = *node.add_attribute();
  proto.set_name("value");
  proto.set_type(::onnx::AttributeProto::TENSOR);
  *proto.mutable_t() = std::move(tensor);
}

// `count` and the elements of a tensor; the largest int64_t where they do not fit.
int64_t WithElements(int64_t count, const Dims& dims) {
  int64_t elements = 1;
  bool fits = true;
  for (const int64_t dim : dims) fits &= !__builtin_mul_overflow(elements, dim, &elements);
  fits &= !__builtin_add_overflow(count, elements, &count);
  return fits ? count : std::numeric_limits<int64_t>::max();
}

}  // namespace

Draw Normal(double deviation) { return {Draw::kNormal, 0, deviation}; }
Draw Uniform(double largest) { return {Draw::kUniform, -largest, largest}; }
Draw Filled(double value) { return {Draw::kUniform, value, value}; }

GraphBuilder::GraphBuilder(const std::string& name)
    : graph_(*model_.mutable_graph()), training_(*model_.add_training_info()) {
  model_.set_ir_version(kIrVersion);
  model_.set_producer_name("yuba zoo");
  model_.set_producer_version(tools::kVersion);
  model_.add_opset_import()->set_version(kOpset);
  graph_.set_name(name);
  training_.mutable_initialization()->set_name("initial values");
}

std::string GraphBuilder::Scoped(const std::string& name) const {
  return absl::StrCat(scope_, name);
}

Value GraphBuilder::Input(const std::string& name, ElementType type, const Dims& dims) {
  ::onnx::ValueInfoProto& info = *graph_.add_input();
  info.set_name(name);
  SetType(type, dims, info);
  return {name, dims};
}

Value GraphBuilder::Parameter(const std::string& name, const Dims& dims, const Draw& draw) {
  const Value value = Input(Scoped(name), ElementType::kF32, dims);
  Initialize(value, draw);
  parameters_ = WithElements(parameters_, dims);
  return value;
}

Value GraphBuilder::Statistic(const std::string& name, const Dims& dims, double value) {
  const Value statistic = Input(Scoped(name), ElementType::kF32, dims);
  Initialize(statistic, Filled(value));
  return statistic;
}

void GraphBuilder::Initialize(const Value& value, const Draw& draw) {
  ::onnx::GraphProto& graph = *training_.mutable_initialization();
  const std::string made = absl::StrCat(value.name, ".initial");
  ::onnx::NodeProto& node = *graph.add_node();
  node.set_name(made);
  node.add_output(made);
  if (draw.distribution == Draw::kUniform && draw.first == draw.second) {
    node.set_op_type("ConstantOfShape");
    node.add_input(absl::StrCat(value.name, ".shape"));
    ::onnx::TensorProto& shape = *graph.add_initializer();
    shape.set_name(node.input(0));
    shape.set_data_type(::onnx::TensorProto::INT64);
    shape.add_dims(static_cast<int64_t>(value.dims.size()));
    for (const int64_t dim : value.dims) shape.add_int64_data(dim);
    ::onnx::TensorProto element;
    element.set_data_type(::onnx::TensorProto::FLOAT);
    element.add_dims(1);
    element.add_float_data(static_cast<float>(draw.first));
    SetTensor(std::move(element), node);
  } else {
    const bool normal = draw.distribution == Draw::kNormal;
    node.set_op_type(normal ? "RandomNormal" : "RandomUniform");
    Add({normal ? "mean" : "low", static_cast<float>(draw.first)}, node);
    Add({normal ? "scale" : "high", static_cast<float>(draw.second)}, node);
    Add({"seed", static_cast<float>(++seed_)}, node);
    Add({"shape", value.dims}, node);
  }
  SetType(ElementType::kF32, value.dims, *graph.add_output());
  graph.mutable_output(graph.output_size() - 1)->set_name(made);
  ::onnx::StringStringEntryProto& binding = *training_.add_initialization_binding();
  binding.set_key(value.name);
  binding.set_value(made);
}

Value GraphBuilder::Constant(::onnx::TensorProto tensor, const Dims& dims) {
  for (const int64_t dim : dims) tensor.add_dims(dim);
  const auto [known, added] = constants_.try_emplace(tensor.SerializeAsString());
  if (!added) return known->second;
  ::onnx::NodeProto& node = *graph_.add_node();
  node.set_op_type("Constant");
  node.set_name(absl::StrCat("constant_", constants_.size()));
  node.add_output(node.name());
  SetTensor(std::move(tensor), node);
  known->second = {node.name(), dims};
  return known->second;
}

Value GraphBuilder::Number(float number) {
  ::onnx::TensorProto tensor;
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  tensor.add_float_data(number);
  return Constant(std::move(tensor), {});
}

Value GraphBuilder::Numbers(const std::vector<float>& numbers) {
  ::onnx::TensorProto tensor;
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  for (const float number : numbers) tensor.add_float_data(number);
  return Constant(std::move(tensor), {static_cast<int64_t>(numbers.size())});
}

Value GraphBuilder::Integer(int64_t integer) {
  ::onnx::TensorProto tensor;
  tensor.set_data_type(::onnx::TensorProto::INT64);
  tensor.add_int64_data(integer);
  return Constant(std::move(tensor), {});
}

Value GraphBuilder::Integers(const Dims& integers) {
  ::onnx::TensorProto tensor;
  tensor.set_data_type(::onnx::TensorProto::INT64);
  for (const int64_t integer : integers) tensor.add_int64_data(integer);
  return Constant(std::move(tensor), {static_cast<int64_t>(integers.size())});
}

std::vector<Value> GraphBuilder::ApplyMany(const std::string& op,
                                           const std::vector<Value>& operands,
                                           const std::vector<Dims>& results,
                                           const Attributes& attributes) {
  std::string name = Scoped(op);
  const int taken = names_[name]++;
  if (taken > 0) name = absl::StrCat(name, "_", taken);
  ::onnx::NodeProto& node = *graph_.add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const Value& operand : operands) node.add_input(operand.name);
  std::vector<Value> made;
  for (size_t r = 0; r < results.size(); ++r) {
    made.push_back({r == 0 ? name : absl::StrCat(name, ".", r), results[r]});
    node.add_output(made.back().name);
  }
  for (const Attribute& attribute : attributes) Add(attribute, node);
  return made;
}

Value GraphBuilder::Apply(const std::string& op, const std::vector<Value>& operands,
                          const Dims& dims, const Attributes& attributes) {
  return ApplyMany(op, operands, {dims}, attributes)[0];
}

void GraphBuilder::Output(const std::string& name, const Value& value) {
  ::onnx::NodeProto& node = *graph_.add_node();
  node.set_op_type("Identity");
  node.set_name(name);
  node.add_input(value.name);
  node.add_output(name);
  ::onnx::ValueInfoProto& info = *graph_.add_output();
  info.set_name(name);
  SetType(ElementType::kF32, value.dims, info);
}

std::string GraphBuilder::Finish() { return model_.SerializeAsString(); }

Scope::Scope(GraphBuilder& builder, const std::string& name)
    : builder_(builder), outer_(builder.scope_) {
  builder.scope_ = absl::StrCat(outer_, name, ".");
}

Scope::~Scope() { builder_.scope_ = outer_; }

}  // namespace yuba::zoo
