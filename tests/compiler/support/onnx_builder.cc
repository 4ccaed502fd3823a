#include "tests/compiler/support/onnx_builder.h"

#include <cstdlib>
#include <fstream>

namespace yuba::compiler {
namespace {

std::string Field(int number, const std::string& bytes) {
  std::string field;
  const auto varint = [&field](size_t value) {
    for (; value >= 128; value >>= 7) field.push_back(static_cast<char>(value % 128 + 128));
    field.push_back(static_cast<char>(value));
  };
  varint(static_cast<size_t>(number) << 3 | 2);
  varint(bytes.size());
  return field + bytes;
}

// An entry of metadata_props, which the installed onnx.proto may not know: field `number`.
template <typename Message>
void Say(int number, const std::string& key, const std::string& text, Message& message) {
  message.MergeFromString(Field(number, Field(1, key) + Field(2, text)));
}

}  // namespace

OnnxBuilder::OnnxBuilder(int64_t opset) {
  proto_.set_ir_version(8);
  proto_.add_opset_import()->set_version(opset);
  proto_.mutable_graph()->set_name("test");
}

void OnnxBuilder::Input(const std::string& name, const std::vector<int64_t>& dims, int type) {
  ::onnx::ValueInfoProto* input = proto_.mutable_graph()->add_input();
  input->set_name(name);
  ::onnx::TypeProto::Tensor* tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const int64_t dim : dims) tensor->mutable_shape()->add_dim()->set_dim_value(dim);
}

void OnnxBuilder::Output(const std::string& name) {
  proto_.mutable_graph()->add_output()->set_name(name);
}

void OnnxBuilder::Weight(const std::string& name, const std::vector<int64_t>& dims) {
  ::onnx::TensorProto* tensor = proto_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(::onnx::TensorProto::FLOAT);
  int64_t elements = 1;
  for (const int64_t dim : dims) {
    tensor->add_dims(dim);
    elements *= dim;
  }
  for (int64_t i = 0; i < elements; ++i) tensor->add_float_data(0.1f * static_cast<float>(i + 1));
}

void OnnxBuilder::Integers(const std::string& name, const std::vector<int64_t>& values) {
  ::onnx::TensorProto* tensor = proto_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(::onnx::TensorProto::INT64);
  tensor->add_dims(static_cast<int64_t>(values.size()));
  for (const int64_t value : values) tensor->add_int64_data(value);
}

::onnx::NodeProto& OnnxBuilder::Node(const std::string& op, const std::vector<std::string>& inputs,
                                     const std::vector<std::string>& outputs) {
  ::onnx::NodeProto* node = proto_.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name("node_" + outputs[0]);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return *node;
}

void OnnxBuilder::SayOfGraph(const std::string& key, const std::string& text) {
  Say(16, key, text, *proto_.mutable_graph());
}

void OnnxBuilder::SayOfValue(const std::string& name, const std::string& key,
                             const std::string& text) {
  ::onnx::GraphProto& graph = *proto_.mutable_graph();
  ::onnx::ValueInfoProto* value = nullptr;
  for (::onnx::ValueInfoProto& known : *graph.mutable_value_info()) {
    if (known.name() == name) value = &known;
  }
  if (value == nullptr) value = graph.add_value_info();
  value->set_name(name);
  Say(4, key, text, *value);
}

void OnnxBuilder::SayOfNode(::onnx::NodeProto& node, const std::string& key,
                            const std::string& text) {
  Say(9, key, text, node);
}

std::string OnnxBuilder::Save() const {
  const std::string path = TemporaryFile("built.onnx");
  WriteBytes(path, proto_.SerializeAsString());
  return path;
}

void SetInt(::onnx::NodeProto& node, const std::string& name, int64_t value) {
  ::onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void SetInts(::onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
  ::onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute->add_ints(value);
}

void SetFloat(::onnx::NodeProto& node, const std::string& name, float value) {
  ::onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::FLOAT);
  attribute->set_f(value);
}

std::string TemporaryFile(const std::string& name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder != nullptr ? folder : "/tmp") + "/" + name;
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace yuba::compiler
