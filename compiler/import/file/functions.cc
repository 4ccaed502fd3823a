#include "compiler/import/file/functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/import/file/function_body.h"
#include "compiler/import/file/metadata.pb.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

constexpr int kDeepestCall = 64;
constexpr int kMostNodes = 1'000'000;

using Name = std::tuple<std::string, std::string, std::string>;  // domain, operator, overload

// ONNX's own domain has two names.
std::string DomainOf(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string OverloadOf(const ::onnx::NodeProto& node) {
  onnx_metadata::Node metadata;
  return metadata.ParseFromString(node.SerializeAsString()) ? metadata.overload() : "";
}

std::string TextOf(const Name& name) {
  const auto& [domain, op_type, overload] = name;
  return absl::StrCat("'", domain, domain.empty() ? "" : ".", op_type, "'",
                      overload.empty() ? "" : absl::StrCat(" of overload '", overload, "'"));
}

class Inliner {
 public:
  explicit Inliner(::onnx::ModelProto& model) : model_(model) {}

  absl::Status Inline() {
    if (model_.functions_size() == 0) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(CollectFunctions());
    YUBA_ASSIGN_OR_RETURN(const int64_t nodes, NodesOf(model_.graph().node(), 0));
    if (nodes > kMostNodes) return UserError("its functions make too large a graph");
    return InlineInto(*model_.mutable_graph()->mutable_node(), 0);
  }

 private:
  absl::Status CollectFunctions() {
    for (const ::onnx::FunctionProto& proto : model_.functions()) {
      onnx_metadata::Function metadata;
      if (!metadata.ParseFromString(proto.SerializeAsString())) metadata.Clear();
      const Name name = {DomainOf(proto.domain()), proto.name(), metadata.overload()};
      const auto [at, added] = functions_.insert({name, Function{&proto, {}}});
      if (!added) return UserError("two functions of the model are ", TextOf(name));
      for (const std::string& bytes : metadata.attribute_proto()) {
        ::onnx::AttributeProto attribute;
        if (attribute.ParseFromString(bytes)) *at->second.defaults.Add() = std::move(attribute);
      }
      names_.insert({DomainOf(proto.domain()), proto.name()});
    }
    return absl::OkStatus();
  }

  // The function that the node calls; null where it calls none.
  absl::StatusOr<const Function*> Called(const ::onnx::NodeProto& node) const {
    if (names_.count({DomainOf(node.domain()), node.op_type()}) == 0) return nullptr;
    const Name name = {DomainOf(node.domain()), node.op_type(), OverloadOf(node)};
    const auto found = functions_.find(name);
    if (found != functions_.end()) return &found->second;
    return UserError("node '", node.name(), "' calls ", TextOf(name),
                     ", and the model has functions of that name with other overloads alone");
  }

  // How many nodes `nodes` become, or a number above kMostNodes: counted before any is added.
  absl::StatusOr<int64_t> NodesOf(const NodeList& nodes, int depth) {
    int64_t sum = 0;
    for (const ::onnx::NodeProto& node : nodes) {
      YUBA_ASSIGN_OR_RETURN(const Function* function, Called(node));
      int64_t inside = 1;
      if (function != nullptr) {
        YUBA_ASSIGN_OR_RETURN(inside, NodesOf(node, *function, depth));
      }
      for (const ::onnx::AttributeProto& attribute : node.attribute()) {
        if (!attribute.has_g()) continue;
        YUBA_ASSIGN_OR_RETURN(const int64_t more, NodesOf(attribute.g().node(), depth));
        inside += more;
      }
      sum = std::min<int64_t>(sum + inside, kMostNodes + 1);
    }
    return sum;
  }

  absl::StatusOr<int64_t> NodesOf(const ::onnx::NodeProto& call, const Function& function,
                                  int depth) {
    if (depth > kDeepestCall)
      return UserError("function '", call.op_type(), "' calls itself, or calls are too deep");
    const auto known = nodes_of_.find(&function);
    if (known != nodes_of_.end()) return known->second;
    YUBA_ASSIGN_OR_RETURN(const int64_t nodes, NodesOf(function.proto->node(), depth + 1));
    return nodes_of_[&function] = nodes;
  }

  // Replaces calls among `nodes` and inside of them.
  absl::Status InlineInto(NodeList& nodes, int depth) {
    NodeList before;
    before.Swap(&nodes);
    for (::onnx::NodeProto& node : before) YUBA_RETURN_IF_ERROR(Add(std::move(node), depth, nodes));
    return absl::OkStatus();
  }

  absl::Status Add(::onnx::NodeProto node, int depth, NodeList& nodes) {
    YUBA_ASSIGN_OR_RETURN(const Function* function, Called(node));
    if (function == nullptr) {
      for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        if (!attribute.has_g()) continue;
        YUBA_RETURN_IF_ERROR(InlineInto(*attribute.mutable_g()->mutable_node(), depth));
      }
      *nodes.Add() = std::move(node);
      return absl::OkStatus();
    }
    if (depth > kDeepestCall)
      return UserError("function '", node.op_type(), "' calls itself, or calls are too deep");
    const absl::Status fits = CheckCall(node, *function);
    if (!fits.ok()) {
      return Annotate(fits, absl::StrCat("node '", node.name(), "', which calls the function '",
                                         node.op_type(), "'"));
    }
    for (::onnx::NodeProto& inner : BodyOf(node, *function, calls_++)) {
      YUBA_RETURN_IF_ERROR(Add(std::move(inner), depth + 1, nodes));
    }
    return absl::OkStatus();
  }

  ::onnx::ModelProto& model_;
  std::map<Name, Function> functions_;
  std::set<std::pair<std::string, std::string>> names_;  // domain and operator of all functions
  std::map<const Function*, int64_t> nodes_of_;          // how many nodes a call of it becomes
  int calls_ = 0;
};

}  // namespace

absl::Status InlineFunctions(::onnx::ModelProto& model) { return Inliner(model).Inline(); }

}  // namespace yuba::onnx
