#include "compiler/import/file/part.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/file/near_names.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

constexpr char kFrom[] = "--from-tensors ", kTo[] = "--to-tensors ";

class Cutter {
 public:
  explicit Cutter(::onnx::GraphProto& graph) : graph_(graph) {
    for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()}) {
      for (const ::onnx::ValueInfoProto& info : *list) declared_.emplace(info.name(), info);
    }
    for (const ::onnx::ValueInfoProto& input : graph.input()) given_.insert(input.name());
    for (const ::onnx::TensorProto& tensor : graph.initializer()) stored_.insert(tensor.name());
    for (int n = 0; n < graph.node_size(); ++n) {
      for (const std::string& output : graph.node(n).output()) {
        if (!output.empty()) made_by_.emplace(output, n);
      }
    }
  }

  absl::Status End(const std::vector<std::string>& to) {
    YUBA_RETURN_IF_ERROR(CheckNames(kTo, to));
    std::map<std::string, ::onnx::ValueInfoProto> outputs;
    for (const ::onnx::ValueInfoProto& output : graph_.output()) outputs[output.name()] = output;
    graph_.clear_output();
    for (const std::string& name : to) {
      // What a file says of values between nodes is often wrong and is not compared with them.
      *graph_.add_output() = outputs[name];
      graph_.mutable_output()->rbegin()->set_name(name);
    }
    return absl::OkStatus();
  }

  absl::Status Begin(const std::vector<std::string>& from) {
    YUBA_RETURN_IF_ERROR(CheckNames(kFrom, from));
    for (const std::string& name : from) {
      if (stored_.count(name) > 0) {
        return UserError(kFrom, name, ": the file stores its value, so nothing leads to it; ",
                         "leave it out");
      }
      if (given_.count(name) > 0) continue;
      ::onnx::ValueInfoProto input = declared_[name];
      input.set_name(name);
      *graph_.add_input() = std::move(input);
      auto& outputs = *graph_.mutable_node(made_by_.at(name))->mutable_output();
      std::find(outputs.begin(), outputs.end(), name)->clear();
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckNames(const char* flag, const std::vector<std::string>& names) const {
    std::set<std::string> seen;
    for (const std::string& name : names) {
      if (!seen.insert(name).second) return UserError(flag, name, " is given twice");
      if (given_.count(name) + stored_.count(name) + made_by_.count(name) > 0) continue;
      return UserError(flag, name, ": no tensor of the model has that name", Hint(name));
    }
    return absl::OkStatus();
  }

  // "; node 'conv1' makes 'y'", or names that are near.
  std::string Hint(const std::string& name) const {
    for (const ::onnx::NodeProto& node : graph_.node()) {
      if (node.name() == name && !name.empty()) {
        return absl::StrCat("; the node of that name makes '", absl::StrJoin(node.output(), "', '"),
                            "'");
      }
    }
    std::vector<std::string> names(given_.begin(), given_.end());
    for (const auto& [made, node] : made_by_) names.push_back(made);
    const std::vector<std::string> near = NearNames(name, names);
    return near.empty() ? "" : absl::StrCat("; near are '", absl::StrJoin(near, "', '"), "'");
  }

  ::onnx::GraphProto& graph_;
  std::map<std::string, ::onnx::ValueInfoProto> declared_;
  std::set<std::string> given_, stored_;  // inputs, initializers
  std::map<std::string, int> made_by_;    // value -> position of its node
};

}  // namespace

absl::Status CutPart(const std::vector<std::string>& from, const std::vector<std::string>& to,
                     ::onnx::GraphProto& graph) {
  if (from.empty() && to.empty()) return absl::OkStatus();
  Cutter cutter(graph);
  if (!to.empty()) YUBA_RETURN_IF_ERROR(cutter.End(to));
  return cutter.Begin(from);
}

absl::Status MarkCuts(const std::vector<std::string>& from, const ::onnx::GraphProto& graph,
                      FileGraph& order) {
  std::set<std::string> read;
  for (const int n : order.nodes) {
    const std::vector<std::string> reads = ReadsOf(graph.node(n));
    read.insert(reads.begin(), reads.end());
  }
  for (const ::onnx::ValueInfoProto& output : graph.output()) read.insert(output.name());
  for (const std::string& name : from) {
    if (read.count(name) > 0) continue;
    return UserError(kFrom, name, ": none of the outputs ",
                     absl::StrJoin(graph.output(), ", ",
                                   [](std::string* text, const auto& output) {
                                     absl::StrAppend(text, "'", output.name(), "'");
                                   }),
                     " needs it; leave it out, or name others by --to-tensors");
  }
  for (const ::onnx::ValueInfoProto* input : order.inputs) {
    if (std::count(from.begin(), from.end(), input->name()) > 0) order.cut[input->name()] = *input;
    if (read.count(input->name()) == 0) order.unread.insert(input->name());
  }
  return absl::OkStatus();
}

}  // namespace yuba::onnx
