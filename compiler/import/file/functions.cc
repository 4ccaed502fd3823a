#include "compiler/import/file/functions.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

constexpr int kDeepestCall = 64;
constexpr int kMostNodes = 1'000'000;

using Name = std::pair<std::string, std::string>;  // domain and operator

using AttributeList = google::protobuf::RepeatedPtrField<::onnx::AttributeProto>;

// The defaults of a function's attributes. They are a field that came after ONNX 1.12, so protobuf
// has them among the unknown ones.
AttributeList DefaultsOf(const ::onnx::FunctionProto& function) {
  using google::protobuf::internal::WireFormatLite;
  constexpr uint32_t kAttributeProto = 11 << 3 | WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  const std::string& unknown = function.unknown_fields();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(unknown.data()),
                                                static_cast<int>(unknown.size()));
  AttributeList defaults;
  while (const uint32_t tag = stream.ReadTag()) {
    if (tag != kAttributeProto) {
      if (!WireFormatLite::SkipField(&stream, tag)) break;
      continue;
    }
    uint32_t size = 0;
    std::string bytes;
    ::onnx::AttributeProto attribute;
    if (!stream.ReadVarint32(&size) || !stream.ReadString(&bytes, static_cast<int>(size))) break;
    if (attribute.ParseFromString(bytes)) *defaults.Add() = std::move(attribute);
  }
  return defaults;
}

const ::onnx::AttributeProto* FindAttribute(const AttributeList& attributes,
                                            const std::string& name) {
  for (const ::onnx::AttributeProto& attribute : attributes) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

class Inliner {
 public:
  explicit Inliner(::onnx::ModelProto& model) : graph_(*model.mutable_graph()) {
    for (const ::onnx::FunctionProto& function : model.functions())
      functions_[{function.domain(), function.name()}] = &function;
  }

  absl::Status Inline() {
    if (functions_.empty()) return absl::OkStatus();
    int64_t nodes_in_place = 0;
    for (const ::onnx::NodeProto& node : graph_.node()) {
      YUBA_ASSIGN_OR_RETURN(const int64_t nodes, NodesOf(node, 0));
      nodes_in_place += nodes;
    }
    if (nodes_in_place > kMostNodes) return UserError("its functions make too large a graph");
    google::protobuf::RepeatedPtrField<::onnx::NodeProto> nodes;
    nodes.Swap(graph_.mutable_node());
    for (::onnx::NodeProto& node : nodes) YUBA_RETURN_IF_ERROR(Add(std::move(node), 0));
    return absl::OkStatus();
  }

 private:
  // How many nodes `node` becomes, or a number above kMostNodes: counted before any is added.
  absl::StatusOr<int64_t> NodesOf(const ::onnx::NodeProto& node, int depth) {
    const auto found = functions_.find({node.domain(), node.op_type()});
    if (found == functions_.end()) return 1;
    if (depth > kDeepestCall)
      return UserError("function '", node.op_type(), "' calls itself, or calls are too deep");
    const auto known = nodes_of_.find(found->first);
    if (known != nodes_of_.end()) return known->second;
    int64_t sum = 0;
    for (const ::onnx::NodeProto& inner : found->second->node()) {
      YUBA_ASSIGN_OR_RETURN(const int64_t nodes, NodesOf(inner, depth + 1));
      sum = std::min<int64_t>(sum + nodes, kMostNodes + 1);
    }
    return nodes_of_[found->first] = sum;
  }

  absl::Status Add(::onnx::NodeProto node, int depth) {
    const auto found = functions_.find({node.domain(), node.op_type()});
    if (found == functions_.end()) {
      *graph_.add_node() = std::move(node);
      return absl::OkStatus();
    }
    if (depth > kDeepestCall)
      return UserError("function '", node.op_type(), "' calls itself, or calls are too deep");
    const ::onnx::FunctionProto& function = *found->second;
    std::map<std::string, std::string> renamed = {{"", ""}};
    for (int i = 0; i < function.input_size(); ++i)
      renamed[function.input(i)] = i < node.input_size() ? node.input(i) : "";
    for (int i = 0; i < function.output_size(); ++i) {
      if (i < node.output_size() && !node.output(i).empty())
        renamed[function.output(i)] = node.output(i);
    }
    const AttributeList defaults = DefaultsOf(function);
    const std::string prefix =
        absl::StrCat(node.name().empty() ? node.op_type() : node.name(), "#", calls_++, "/");
    for (const ::onnx::NodeProto& inner : function.node()) {
      ::onnx::NodeProto copy = inner;
      copy.set_name(prefix + (inner.name().empty() ? inner.op_type() : inner.name()));
      for (std::string& input : *copy.mutable_input()) input = Rename(input, prefix, renamed);
      for (std::string& output : *copy.mutable_output()) output = Rename(output, prefix, renamed);
      BindAttributes(node, defaults, copy);
      YUBA_RETURN_IF_ERROR(Add(std::move(copy), depth + 1));
    }
    return absl::OkStatus();
  }

  static std::string Rename(const std::string& name, const std::string& prefix,
                            std::map<std::string, std::string>& renamed) {
    return renamed.emplace(name, prefix + name).first->second;
  }

  // Attributes that refer to an attribute of the call get its value; where the call has none, and
  // there is no default, they are dropped.
  static void BindAttributes(const ::onnx::NodeProto& call, const AttributeList& defaults,
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

  ::onnx::GraphProto& graph_;
  std::map<Name, const ::onnx::FunctionProto*> functions_;
  std::map<Name, int64_t> nodes_of_;  // function -> how many nodes a call of it becomes
  int calls_ = 0;
};

}  // namespace

absl::Status InlineFunctions(::onnx::ModelProto& model) { return Inliner(model).Inline(); }

}  // namespace yuba::onnx
