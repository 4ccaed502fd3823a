// LiftStored of restoring.h.
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/import/parameters/float_tensor.h"
#include "compiler/import/parameters/restoring.h"

namespace yuba::onnx {
namespace {

bool Gives(const ::onnx::GraphProto& graph, const std::string& name) {
  for (const ::onnx::ValueInfoProto& input : graph.input()) {
    if (input.name() == name) return true;
  }
  for (const ::onnx::TensorProto& stored : graph.initializer()) {
    if (stored.name() == name) return true;
  }
  return false;
}

// Renames the value where the graph reads it, and graphs inside that have no value of that name.
void RenameReads(const std::string& from, const std::string& to, ::onnx::GraphProto& graph) {
  for (::onnx::NodeProto& node : *graph.mutable_node()) {
    for (std::string& input : *node.mutable_input()) {
      if (input == from) input = to;
    }
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g() && !Gives(attribute.g(), from))
        RenameReads(from, to, *attribute.mutable_g());
    }
  }
  for (::onnx::ValueInfoProto& output : *graph.mutable_output()) {
    if (output.name() == from) output.set_name(to);
  }
}

class Lifter {
 public:
  explicit Lifter(::onnx::GraphProto& graph) : graph_(graph) { Count(graph); }

  void Lift() {
    for (::onnx::NodeProto& node : *graph_.mutable_node()) LiftFrom(node);
  }

 private:
  // How often each name is given, at any depth.
  void Count(const ::onnx::GraphProto& graph) {
    for (const ::onnx::ValueInfoProto& input : graph.input()) ++given_[input.name()];
    for (const ::onnx::TensorProto& stored : graph.initializer()) ++given_[stored.name()];
    for (const ::onnx::NodeProto& node : graph.node()) {
      for (const std::string& output : node.output()) ++given_[output];
      for (const ::onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) Count(attribute.g());
      }
    }
  }

  void LiftFrom(::onnx::NodeProto& node) {
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      for (::onnx::NodeProto& inner : *attribute.mutable_g()->mutable_node()) LiftFrom(inner);
      LiftFrom(absl::StrCat(node.output_size() > 0 ? node.output(0) : node.name(), "/",
                            attribute.name(), "/"),
               *attribute.mutable_g());
    }
  }

  void LiftFrom(const std::string& place, ::onnx::GraphProto& inside) {
    ::onnx::GraphProto rest;
    for (::onnx::TensorProto& stored : *inside.mutable_initializer()) {
      if (!HoldsFloats(stored)) {
        *rest.add_initializer() = std::move(stored);
        continue;
      }
      const std::string name = NameOutside(place, stored.name());
      if (name != stored.name()) RenameReads(stored.name(), name, inside);
      stored.set_name(name);
      *graph_.add_initializer() = std::move(stored);
    }
    inside.mutable_initializer()->Swap(rest.mutable_initializer());
  }

  // Its own name, where nothing else in the file has that.
  std::string NameOutside(const std::string& place, const std::string& own) {
    if (given_[own] == 1) return own;
    std::string name = place + own;
    while (!given_.emplace(name, 1).second) name += "_";
    return name;
  }

  ::onnx::GraphProto& graph_;
  std::map<std::string, int> given_;
};

}  // namespace

void LiftStored(::onnx::GraphProto& graph) { Lifter(graph).Lift(); }

}  // namespace yuba::onnx
