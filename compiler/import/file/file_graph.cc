#include "compiler/import/file/file_graph.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

class Orderer {
 public:
  explicit Orderer(const ::onnx::GraphProto& graph)
      : graph_(graph), state_(graph.node_size(), kNew) {}

  absl::StatusOr<FileGraph> Order() {
    YUBA_RETURN_IF_ERROR(CollectSources());
    YUBA_RETURN_IF_ERROR(CollectProducers());
    if (graph_.output_size() == 0) return UserError("the graph has no outputs");
    std::set<std::string> outputs;
    for (const ::onnx::ValueInfoProto& output : graph_.output()) {
      if (!Known(output.name()))
        return UserError("the graph's output '", output.name(), "' is made by no node");
      if (!outputs.insert(output.name()).second)
        return UserError("two outputs are named '", output.name(), "': list it once");
    }
    for (const ::onnx::ValueInfoProto& output : graph_.output())
      YUBA_RETURN_IF_ERROR(Visit(output.name()));
    return std::move(result_);
  }

 private:
  enum State { kNew, kEntered, kDone };

  absl::Status CollectSources() {
    if (graph_.sparse_initializer_size() > 0) {
      return UserError("the model has sparse initializers, which are not supported: store '",
                       graph_.sparse_initializer(0).values().name(), "' densely");
    }
    for (const ::onnx::TensorProto& tensor : graph_.initializer()) {
      if (!result_.initializers.emplace(tensor.name(), &tensor).second)
        return UserError("two initializers are named '", tensor.name(), "'");
    }
    for (const ::onnx::ValueInfoProto& input : graph_.input()) {
      if (!inputs_.emplace(input.name(), &input).second)
        return UserError("two inputs are named '", input.name(), "'");
      if (result_.initializers.count(input.name()) == 0) result_.inputs.push_back(&input);
    }
    return absl::OkStatus();
  }

  absl::Status CollectProducers() {
    for (int n = 0; n < graph_.node_size(); ++n) {
      for (const std::string& output : graph_.node(n).output()) {
        if (output.empty()) continue;
        if (!producers_.emplace(output, n).second || inputs_.count(output) > 0 ||
            result_.initializers.count(output) > 0) {
          return UserError("the value '", output, "' is given twice; the second time by node ",
                           NodeLabel(graph_.node(n), n));
        }
      }
    }
    return absl::OkStatus();
  }

  bool Known(const std::string& name) const {
    return producers_.count(name) > 0 || inputs_.count(name) > 0 ||
           result_.initializers.count(name) > 0;
  }

  struct Entered {
    int node = 0;
    int next = 0;  // of what it reads: of its inputs, and behind them of `inside`
    std::vector<std::string> inside;
  };

  void Enter(int node, std::vector<Entered>& stack) {
    state_[node] = kEntered;
    stack.push_back({node, 0, ReadsInside(graph_.node(node))});
  }

  // Depth first without recursion: files can be deep.
  absl::Status Visit(const std::string& output) {
    std::vector<Entered> stack;
    const auto producer = producers_.find(output);
    if (producer == producers_.end() || state_[producer->second] == kDone) return absl::OkStatus();
    Enter(producer->second, stack);
    while (!stack.empty()) {
      Entered& top = stack.back();
      const int n = top.node;
      const ::onnx::NodeProto& node = graph_.node(n);
      const int inputs = node.input_size();
      if (top.next == inputs + static_cast<int>(top.inside.size())) {
        state_[n] = kDone;
        result_.nodes.push_back(n);
        stack.pop_back();
        continue;
      }
      const bool inside = top.next >= inputs;
      const std::string& input = inside ? top.inside[top.next - inputs] : node.input(top.next);
      ++top.next;
      if (input.empty()) continue;
      if (!Known(input)) {
        return UserError("node ", NodeLabel(node, n), " reads '", input, "', which nothing gives");
      }
      const auto found = producers_.find(input);
      if (found == producers_.end() || state_[found->second] == kDone) continue;
      if (state_[found->second] == kEntered) {
        return UserError("the graph has a cycle through node ", NodeLabel(node, n), " and '", input,
                         "'");
      }
      Enter(found->second, stack);
    }
    return absl::OkStatus();
  }

  const ::onnx::GraphProto& graph_;
  FileGraph result_;
  std::map<std::string, const ::onnx::ValueInfoProto*> inputs_;
  std::map<std::string, int> producers_;
  std::vector<State> state_;
};

}  // namespace

absl::StatusOr<FileGraph> OrderFileGraph(const ::onnx::GraphProto& graph) {
  return Orderer(graph).Order();
}

std::vector<std::string> ReadsInside(const ::onnx::NodeProto& node) {
  std::set<std::string> reads;
  for (const ::onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    const ::onnx::GraphProto& graph = attribute.g();
    std::set<std::string> given = {""}, read;
    for (const ::onnx::ValueInfoProto& input : graph.input()) given.insert(input.name());
    for (const ::onnx::TensorProto& stored : graph.initializer()) given.insert(stored.name());
    for (const ::onnx::NodeProto& inner : graph.node()) {
      given.insert(inner.output().begin(), inner.output().end());
      read.insert(inner.input().begin(), inner.input().end());
      const std::vector<std::string> inside = ReadsInside(inner);
      read.insert(inside.begin(), inside.end());
    }
    for (const ::onnx::ValueInfoProto& output : graph.output()) read.insert(output.name());
    std::set_difference(read.begin(), read.end(), given.begin(), given.end(),
                        std::inserter(reads, reads.end()));
  }
  return {reads.begin(), reads.end()};
}

std::vector<std::string> ReadsOf(const ::onnx::NodeProto& node) {
  std::vector<std::string> reads = ReadsInside(node);
  reads.insert(reads.begin(), node.input().begin(), node.input().end());
  return reads;
}

std::string NodeLabel(const ::onnx::NodeProto& node, int position) {
  if (!node.name().empty()) return absl::StrCat("'", node.name(), "' (", node.op_type(), ")");
  const std::string output = node.output_size() > 0 ? node.output(0) : "";
  return absl::StrCat("number ", position, " (", node.op_type(), ", makes '", output, "')");
}

}  // namespace yuba::onnx
