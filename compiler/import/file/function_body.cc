#include "compiler/import/file/function_body.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

const ::onnx::AttributeProto* FindAttribute(const AttributeList& attributes,
                                            const std::string& name) {
  for (const ::onnx::AttributeProto& attribute : attributes) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

// Attributes that refer to an attribute of the call get its value; where the call has none, and
// there is no default, they are dropped.
void BindAttributes(const ::onnx::NodeProto& call, const AttributeList& defaults,
                    ::onnx::NodeProto& node) {
  AttributeList attributes;
  attributes.Swap(node.mutable_attribute());
  for (::onnx::AttributeProto& attribute : attributes) {
    if (attribute.ref_attr_name().empty()) {
      *node.add_attribute() = std::move(attribute);
      continue;
    }
    const ::onnx::AttributeProto* given =
        FindAttribute(call.attribute(), attribute.ref_attr_name());
    if (given == nullptr) given = FindAttribute(defaults, attribute.ref_attr_name());
    if (given == nullptr) continue;
    *node.add_attribute() = *given;
    node.mutable_attribute()->rbegin()->set_name(attribute.name());
  }
}

// Gives nodes of a function, and nodes inside of them, their names and attributes.
void Bind(const ::onnx::NodeProto& call, const Function& function, const std::string& prefix,
          std::map<std::string, std::string>& renamed, NodeList& nodes) {
  const auto rename = [&](auto& name) {
    name = renamed.emplace(name, prefix + name).first->second;
  };
  for (::onnx::NodeProto& node : nodes) {
    node.set_name(prefix + (node.name().empty() ? node.op_type() : node.name()));
    std::for_each(node.mutable_input()->begin(), node.mutable_input()->end(), rename);
    std::for_each(node.mutable_output()->begin(), node.mutable_output()->end(), rename);
    BindAttributes(call, function.defaults, node);
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      ::onnx::GraphProto& graph = *attribute.mutable_g();
      for (::onnx::ValueInfoProto& input : *graph.mutable_input()) rename(*input.mutable_name());
      for (::onnx::TensorProto& stored : *graph.mutable_initializer())
        rename(*stored.mutable_name());
      Bind(call, function, prefix, renamed, *graph.mutable_node());
      for (::onnx::ValueInfoProto& output : *graph.mutable_output()) rename(*output.mutable_name());
    }
  }
}

}  // namespace

absl::Status CheckCall(const ::onnx::NodeProto& call, const Function& function) {
  const ::onnx::FunctionProto& proto = *function.proto;
  if (call.input_size() > proto.input_size()) {
    return UserError("it has ", call.input_size(), " operands, and the function has ",
                     proto.input_size());
  }
  if (call.output_size() > proto.output_size()) {
    return UserError("it has ", call.output_size(), " outputs, and the function has ",
                     proto.output_size());
  }
  std::set<std::string> seen;
  for (const ::onnx::AttributeProto& attribute : call.attribute()) {
    if (!seen.insert(attribute.name()).second)
      return UserError("attribute '", attribute.name(), "' is given twice");
    const auto& names = proto.attribute();
    if (std::find(names.begin(), names.end(), attribute.name()) == names.end() &&
        FindAttribute(function.defaults, attribute.name()) == nullptr)
      return UserError("attribute '", attribute.name(), "' is none of the function's");
  }
  return absl::OkStatus();
}

NodeList BodyOf(const ::onnx::NodeProto& call, const Function& function, int number) {
  const ::onnx::FunctionProto& proto = *function.proto;
  std::map<std::string, std::string> renamed = {{"", ""}};
  for (int i = 0; i < proto.input_size(); ++i)
    renamed[proto.input(i)] = i < call.input_size() ? call.input(i) : "";
  for (int i = 0; i < proto.output_size(); ++i) {
    if (i < call.output_size() && !call.output(i).empty())
      renamed[proto.output(i)] = call.output(i);
  }
  const std::string prefix =
      absl::StrCat(call.name().empty() ? call.op_type() : call.name(), "#", number, "/");
  NodeList nodes = proto.node();
  Bind(call, function, prefix, renamed, nodes);
  return nodes;
}

}  // namespace yuba::onnx
